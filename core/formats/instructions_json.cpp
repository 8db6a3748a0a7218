// What a person may write here is small: caps come first, so that nothing hostile is laid out.
#include "core/formats/instructions_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/formats/members.h"
#include "core/layout/known.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostBytes = 1024, kMostSide = 1024;
constexpr std::size_t kMostFragments = 4, kMostBases = 16, kMostDimensions = 4, kMostTypes = 16;

}  // namespace

template <class Io>
void visit(Io& io, Fragment& f) {
  io.part("fragment", "Where the elements of an operand lie: bit i of a number moves the element by basis i, (row, column).");
  const auto bases = as::list(as::list(as::integer(0, kMostSide), 1, kMostDimensions), 0, kMostBases);
  io.optional("name", f.name, as::label, "a, b or d of a product");
  io.optional("registers", f.registers, bases, "elements of a thread");
  io.optional("lanes", f.lanes, bases);
  io.optional("warps", f.warps, bases);
}

template <class Io>
void visit(Io& io, Instruction& row) {
  io.part("instruction", "What one instruction of a warp or of a warpgroup moves or multiplies.");
  const auto side = as::integer(0, kMostSide);
  io.required("name", row.name, as::name, "as choices and tables call it: \"st.shared.8\"");
  io.required("ptx", row.ptx, as::label, "what is written");
  io.required("kind", row.kind, as::word("kind of instruction", InstructionKind::TensorStore));
  io.optional("bytes", row.bytes, as::integer(0, kMostBytes), "per lane; of a row of a matrix");
  io.optional("matrices", row.matrices, as::integer(0, 4), "of 8 rows of 16 bytes: 1, 2 or 4");
  io.optional("transposed", row.transposed, "moves elements of 16 bits only");
  io.unless(row.lanes_per_phase == 32, "lanes_per_phase", row.lanes_per_phase, as::integer(1, 32),
            "that go to shared memory together; default 32");
  io.always("assumed", row.assumed, "the phase rule is an assumption, not measured on this machine; default true");
  io.optional("unit", row.unit, as::name, "that its phases hold");
  io.always("cycles", row.cycles,
            "of the unit, per phase without conflicts; of n, m, k and bits for products, of bytes for boxes; default 1");
  io.always("issue", row.issue, "cycles of its warp's scheduler; default 1");
  io.always("latency", row.latency, "default 1");
  io.optional("registers", row.registers, as::integer(0, 256), "of 32 bits per lane");
  io.optional("types", row.types, as::list(as::word("type", DType::I4), 0, kMostTypes), "of A and B; absent: any");
  io.optional("a_registers", row.a_registers, "A lies in registers");
  io.optional("m", row.m, side, "rows of one instruction");
  io.optional("k", row.k, side, "depth of one instruction");
  io.optional("n_least", row.n_least, side);
  io.optional("n_most", row.n_most, side);
  io.optional("n_step", row.n_step, side);
  io.optional("swizzle", row.swizzle, side, "of a box: bytes of the span that is swizzled");
  io.optional("inner_bytes", row.inner_bytes, side, "most bytes of a row of a box; absent: any");
  io.optional("fragments", row.fragments, as::list(as::part, 0, kMostFragments));
  io.required("source", row.source, "where the numbers come from");
}

namespace as {

void Rows::read(const Cursor& at, Catalogue& catalogue) const {
  std::vector<Instruction> rows;
  list(part, 0, kMostInstructions).read(at, rows);
  catalogue = std::move(rows);
}

Json Rows::write(const Catalogue& catalogue) const { return list(part).write(catalogue.rows()); }

Json Rows::schema(const Catalogue&, Json& definitions) const {
  return list(part, 0, kMostInstructions).schema(std::vector<Instruction>(), definitions);
}

}  // namespace as

namespace {

class RowJudge {
 public:
  RowJudge(const Machine& machine, const Instruction& row, std::string at, ReadLog& log)
      : machine_(machine), row_(row), at_(std::move(at)), log_(log) {}

  void run() {
    if (!row_.unit.empty() && !machine_.find_unit(row_.unit)) {
      const auto units = names_of(machine_.units);
      fault("unit", fmt::format("no unit '{}' (declared: {})", row_.unit, units.empty() ? "none" : list_of(units)),
            did_you_mean(row_.unit, units));
    }
    if (!std::has_single_bit(static_cast<unsigned>(row_.lanes_per_phase)))
      fault("lanes_per_phase", fmt::format("expected 1, 2, 4, 8, 16 or 32, found {}", row_.lanes_per_phase));
    sizes();
    if (row_.types.size() > kMostTypes) fault("types", fmt::format("{} types, expected at most {}", row_.types.size(), kMostTypes));
    if (row_.fragments.size() > kMostFragments)
      return fault("fragments", fmt::format("{} fragments, expected at most {}", row_.fragments.size(), kMostFragments));
    for (std::size_t i = 0; i < row_.fragments.size(); ++i) fragment(i);
    formulas();
  }

 private:
  void fault(const std::string& member, std::string message, std::string hint = {}) {
    const std::string pointer = at_ + "/" + member;
    if (!log_.touched(pointer)) log_.fault(pointer, std::move(message), std::move(hint));
  }
  void one_of(const char* member, std::int64_t value, const std::vector<std::int64_t>& allowed) {
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      fault(member, fmt::format("'{}' has {} {}, expected {}{}", row_.name, member, value, allowed.size() > 1 ? "one of " : "",
                                fmt::join(allowed, ", ")));
  }

  void sizes() {
    using K = InstructionKind;
    switch (row_.kind) {
      case K::SharedLoad:
      case K::SharedStore:
      case K::AsyncCopy:
      case K::GlobalLoad:
      case K::GlobalStore: return one_of("bytes", row_.bytes, {1, 2, 4, 8, 16});
      case K::MatrixLoad:
      case K::MatrixStore:
        one_of("matrices", row_.matrices, {1, 2, 4});
        // The rows of one matrix go to shared memory together.
        one_of("bytes", row_.bytes, {16});
        return one_of("lanes_per_phase", row_.lanes_per_phase, {8});
      case K::BulkCopy:
        one_of("swizzle", row_.swizzle, {0, 32, 64, 128});
        // Boxes are looked up by what they are called.
        if (const std::string is = fmt::format("tma.{}", row_.swizzle); row_.name.starts_with("tma.") && row_.name != is)
          fault("swizzle", fmt::format("'{}' has swizzle {}, and its name says another", row_.name, row_.swizzle),
                fmt::format("a box with this swizzle is '{}'", is));
        return;
      case K::Product:
        for (const auto& [member, value] : {std::pair{"m", row_.m}, {"k", row_.k}, {"n_least", row_.n_least}, {"n_step", row_.n_step}})
          if (value < 1) fault(member, fmt::format("a product needs an {} of at least 1", member));
        if (row_.n_most < row_.n_least) fault("n_most", fmt::format("{} is less than n_least, {}", row_.n_most, row_.n_least));
        return;
      case K::Shuffle:
      case K::BytePermute:
      case K::TensorLoad:
      case K::TensorStore: return;
    }
  }

  void fragment(std::size_t i) {
    const Fragment& f = row_.fragments[i];
    const std::string member = fmt::format("fragments/{}", i);
    std::size_t rank = 0;
    for (const auto* axis : {&f.registers, &f.lanes, &f.warps}) {
      if (axis->size() > kMostBases) return fault(member, fmt::format("more than {} bases on one axis", kMostBases));
      for (const auto& basis : *axis) {
        if (basis.empty() || basis.size() > kMostDimensions)
          return fault(member, fmt::format("a basis has {} coordinates, expected 1 to {}", basis.size(), kMostDimensions));
        if (rank != 0 && basis.size() != rank)
          return fault(member, fmt::format("a basis has {} coordinates where another has {}", basis.size(), rank));
        rank = basis.size();
      }
    }
    if (f.lanes.size() > 5) return fault(member + "/lanes", fmt::format("{} bases, and a warp's 32 lanes have 5 bits", f.lanes.size()));
    if (!layout_of(f))
      fault(member, fmt::format("fragment '{}' of '{}' is no layout: its bases leave elements of its tile out", f.name, row_.name),
            "every element of the tile that the bases span lies somewhere, and no basis reaches beyond it");
  }

  void formulas() {
    const Scope scope{
        {"n", std::max(row_.n_most, 1)}, {"m", std::max(row_.m, 1)}, {"k", std::max(row_.k, 1)}, {"bits", 16}, {"bytes", 128}};
    for (const auto& [member, formula] :
         {std::pair<const char*, const Expr*>{"cycles", &row_.cycles}, {"issue", &row_.issue}, {"latency", &row_.latency}}) {
      const auto value = formula->evaluate(scope);
      if (!value)
        fault(member, value.error().faults.front().message, "it may name n, m, k and bits of a product, and bytes of a box");
      else if (*value < 0 || *value > kMostCycles)
        fault(member, fmt::format("{} cycles, expected 0 to {}", *value, kMostCycles));
    }
  }

  static constexpr std::int64_t kMostCycles = 1 << 20;
  const Machine& machine_;
  const Instruction& row_;
  std::string at_;
  ReadLog& log_;
};

}  // namespace

void judge_instructions(const Machine& machine, ReadLog& log) {
  const auto& rows = machine.instructions.rows();
  if (rows.size() > kMostInstructions)
    return log.fault("/instructions", fmt::format("{} rows, expected at most {}", rows.size(), kMostInstructions));
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string at = fmt::format("/instructions/{}", i);
    if (const auto [it, fresh] = seen.emplace(rows[i].name, i); !fresh && !rows[i].name.empty())
      log.fault(at + "/name", fmt::format("'{}' already is /instructions/{}", rows[i].name, it->second));
    RowJudge(machine, rows[i], at, log).run();
  }
}

}  // namespace heddle
