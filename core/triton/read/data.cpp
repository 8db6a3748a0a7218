// Forwards from what is loaded or compared, backwards from what needs numbers; an op is data where both meet.
#include "core/triton/read/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/words.h"
#include "core/triton/read/flow.h"
#include "core/triton/read/program.h"

namespace heddle::triton {
namespace {

/// Turns around loops after which nothing new is found: a carried value is known after one turn, what it is computed of after the next.
constexpr int kMostTurns = 8;

bool is_integer_tile(const Type& type) {
  return type.tile.space == dump::TileType::Space::Register && !type.tile.shape.empty() && !type.pointer && !is_float(type);
}

class Marker {
 public:
  Marker(const mlir::Module& module, const std::vector<Type>& types)
      : module_(module), types_(types), data_(module.values.size()), needed_(module.values.size()) {}

  std::vector<bool> run() {
    for (int turn = 0; turn < kMostTurns && forwards(); ++turn) {
    }
    for (int turn = 0; turn < kMostTurns && backwards(); ++turn) {
    }
    std::vector<bool> ops(module_.ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const mlir::Op& op = module_.ops[i];
      if (op.results.size() != 1 || !computes(op)) continue;
      const std::size_t result = op.results[0].index();
      ops[i] = data_[result] && needed_[result];
    }
    return ops;
  }

 private:
  const Type& type(mlir::ValueId v) const { return types_[v.index()]; }

  /// Arithmetic on integers, whichever they are.
  bool computes(const mlir::Op& op) const {
    if (op.results.empty() || !is_integer_tile(type(op.results[0]))) return false;
    const OpWord* word = find_op(op.name);
    return (word && word->role == OpRole::Index && op.name.starts_with("arith.")) || op.name == "arith.select";
  }

  bool hands_on(const mlir::Op& op) const {
    const OpWord* word = find_op(op.name);
    return (word && (word->role == OpRole::View || word->role == OpRole::Reduce || word->role == OpRole::SharedLoad)) || computes(op);
  }

  bool begins(const mlir::Op& op) const {
    if (const OpWord* word = find_op(op.name); word && word->role == OpRole::Opaque) return true;
    return one_of(op.name,
                  {"tt.load", "tt.descriptor_load", "tt.experimental_descriptor_load", "arith.cmpf", "arith.fptosi", "arith.fptoui"});
  }

  bool set(std::vector<bool>& marks, mlir::ValueId v) const {
    if (!v.valid() || marks[v.index()] || !is_integer_tile(type(v))) return false;
    return marks[v.index()] = true;
  }

  /// Pairs (from, to) of what regions are given and give: loops carry, branches yield.
  template <class Pair>
  void for_each_passage(Pair pair) const {
    for (const mlir::Op& op : module_.ops) {
      if (op.name == "scf.for" && !op.regions.empty() && !module_.region(op.regions[0]).blocks.empty()) {
        const mlir::Block& body = module_.block(module_.region(op.regions[0]).blocks[0]);
        for (std::size_t k = 0; k + 1 < body.arguments.size() && k + 3 < op.operands.size(); ++k) {
          pair(op.operands[k + 3], body.arguments[k + 1]);
          if (k < op.results.size()) pair(op.operands[k + 3], op.results[k]);
        }
      }
      if (op.name != "scf.yield" || !op.parent.valid()) continue;
      const mlir::OpId around = module_.region(module_.block(op.parent).parent).parent;
      if (!around.valid()) continue;
      const mlir::Op& owner = module_.op(around);
      for (std::size_t k = 0; k < op.operands.size(); ++k) {
        if (k < owner.results.size()) pair(op.operands[k], owner.results[k]);
        const mlir::Block& body = module_.block(op.parent);
        if (owner.name == "scf.for" && k + 1 < body.arguments.size()) pair(op.operands[k], body.arguments[k + 1]);
      }
    }
  }

  bool forwards() {
    bool changed = false;
    for (const mlir::Op& op : module_.ops) {
      const bool from = begins(op) || (!op.results.empty() && hands_on(op) &&
                                       std::ranges::any_of(op.operands, [&](mlir::ValueId v) { return v.valid() && data_[v.index()]; }));
      if (!from) continue;
      for (const mlir::ValueId v : op.results) changed |= set(data_, v);
    }
    for_each_passage([&](mlir::ValueId from, mlir::ValueId to) {
      if (data_[from.index()]) changed |= set(data_, to);
    });
    return changed;
  }

  bool backwards() {
    bool changed = false;
    for (std::size_t i = module_.ops.size(); i-- > 0;) {
      const mlir::Op& op = module_.ops[i];
      const auto need = [&](std::size_t k) { changed |= k < op.operands.size() && set(needed_, op.operands[k]); };
      const auto need_all = [&] {
        for (std::size_t k = 0; k < op.operands.size(); ++k) need(k);
      };
      const OpWord* word = find_op(op.name);
      const bool number = !op.results.empty() && is_float(type(op.results[0]));
      const bool wanted = !op.results.empty() && needed_[op.results[0].index()];
      if (word && (word->role == OpRole::Convert || word->role == OpRole::Elements || word->role == OpRole::View) && number) need_all();
      if (hands_on(op) && wanted) need_all();
      if (!word) continue;
      if (word->role == OpRole::PointerStore || word->role == OpRole::Atomic) need(1);
      if (word->role == OpRole::Opaque || word->role == OpRole::SharedStore || word->role == OpRole::TensorStore ||
          word->role == OpRole::SharedAlloc || word->role == OpRole::Product)
        need_all();
    }
    for_each_passage([&](mlir::ValueId from, mlir::ValueId to) {
      if (needed_[to.index()]) changed |= set(needed_, from);
    });
    return changed;
  }

  const mlir::Module& module_;
  const std::vector<Type>& types_;
  std::vector<bool> data_, needed_;
};

/// Integers are computed on in their own width; flags are 0 and 1.
std::string expression_of_data(const mlir::Op& op, std::int64_t bits) {
  const bool flag = bits == 1;
  const auto narrow = [&](const std::string& text) { return flag || bits > 32 ? text : fmt::format("wrap({}, {})", text, bits); };
  const std::string& name = op.name;
  if (name == "arith.cmpi") {
    // Unsigned ones differ where a side is negative, which masks of data are not.
    for (const auto& [word, sign] : {std::pair{"ult", "<"}, {"ule", "<="}, {"ugt", ">"}, {"uge", ">="}})
      if (op.words.starts_with(word)) return fmt::format("x0 {} x1", sign);
    const char* sign = integer_predicate(op);
    return sign ? fmt::format("x0 {} x1", sign) : std::string();
  }
  if (name == "arith.select") return "select(x0, x1, x2)";
  if (name == "arith.addi") return narrow("x0 + x1");
  if (name == "arith.subi") return narrow("x0 - x1");
  if (name == "arith.muli") return flag ? "min(x0, x1)" : narrow("x0 * x1");
  if (name == "arith.andi") return flag ? "min(x0, x1)" : "bit_and(x0, x1)";
  if (name == "arith.ori") return flag ? "max(x0, x1)" : "bit_or(x0, x1)";
  if (name == "arith.xori") return flag ? "x0 != x1" : "bit_xor(x0, x1)";
  if (name == "arith.shli") return narrow("shift_left(x0, x1)");
  if (name == "arith.shrsi") return "shift_right(x0, x1)";
  if (name == "arith.shrui")
    return bits < 32 ? fmt::format("shift_right(bit_and(x0, {}), x1)", (std::int64_t{1} << bits) - 1) : "shift_right(x0, x1)";
  if (name == "arith.minsi" || name == "arith.minui") return "min(x0, x1)";
  if (name == "arith.maxsi" || name == "arith.maxui") return "max(x0, x1)";
  if (name == "arith.divsi" || name == "arith.divui" || name == "arith.floordivsi") return "floor(x0 / x1)";
  if (name == "arith.remsi" || name == "arith.remui") return "x0 - floor(x0 / x1) * x1";
  if (name == "arith.extsi" || name == "arith.extui" || name == "arith.index_cast") return "x0";
  if (name == "arith.trunci") return bits == 1 ? "bit_and(x0, 1)" : narrow("x0");
  return {};
}

}  // namespace

std::vector<bool> data_ops(const mlir::Module& module, const std::vector<Type>& types) { return Marker(module, types).run(); }

std::string expression_in(const TritonProgram& program, const mlir::Op& op) {
  if (std::string text = expression_of(op); !text.empty()) return text;
  if (op.results.empty()) return {};
  if (op.name == "arith.fptosi" || op.name == "arith.fptoui") return "select(x0 < 0, ceil(x0), floor(x0))";
  return expression_of_data(op, program.type(op.results[0]).tile.bits);
}

}  // namespace heddle::triton
