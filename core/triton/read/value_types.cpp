// The type of every value. Most ops print the types of their results; where they do not, the type follows from what is printed and from the
// op. Which those are is a table of names, since the printed forms are each op's own.
#include <algorithm>

#include "core/base/split.h"
#include "core/base/words.h"
#include "core/triton/read/ops.h"
#include "core/triton/read/type.h"

namespace heddle::triton {
namespace {

using dump::TileType;
using mlir::Module;
using mlir::Op;

/// Ops that give only tokens, whatever they print.
bool gives_token(std::string_view name) {
  return one_of(name, {"tmem_store", "tc_gen5_mma", "tc_gen5_mma_scaled", "async_copy_global_to_local", "async_commit_group", "async_wait",
                       "tmem_copy", "buffer_load_to_local"});
}

Type token() {
  Type type;
  type.tile.space = TileType::Space::Token;
  return type;
}

Type with_element(Type type, std::string_view element, std::int64_t bits) {
  type.tile.element = std::string(element);
  type.tile.bits = bits;
  type.pointer = false;
  type.pointee.clear();
  return type;
}

/// What a load through pointers gives: the same tile of what they point to.
Type loaded(const Type& pointers, const Module& module) {
  if (!pointers.pointer) return pointers;
  const Type element = parse_type(pointers.pointee, module);
  if (!pointers.tile.tile()) return element;
  return with_element(pointers, element.tile.element, element.tile.bits);
}

/// Types beside each other in parentheses: "(tensor<..>, i32)" is kept as one text by ops whose form is general.
std::vector<std::string> opened(const std::vector<std::string>& types) {
  if (types.size() != 1 || types.front().size() < 2 || types.front().front() != '(' || types.front().back() != ')') return types;
  std::vector<std::string> out;
  for (std::string_view part : split_outside(std::string_view(types.front()).substr(1, types.front().size() - 2))) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (!part.empty()) out.emplace_back(part);
  }
  return out;
}

struct Typer {
  const Module& module;
  std::vector<Type> types;

  Type parsed(const std::string& text) const { return parse_type(text, module); }
  const Type& operand(const Op& op, std::size_t index) const {
    static const Type kNone;
    return index < op.operands.size() ? types[op.operands[index].index()] : kNone;
  }

  /// Results of an op without regions.
  void type_results(const Op& op) {
    if (op.results.empty()) return;
    const std::string_view name = without_dialect(op.name);
    const std::vector<std::string> in = opened(op.types), out = opened(op.result_types);
    // The parser notes what stands beside a value; that these ops mean something else by it, it cannot know.
    const auto always = [&](std::size_t i, Type type) {
      if (i < op.results.size()) types[op.results[i].index()] = std::move(type);
    };
    const auto set = [&](std::size_t i, Type type) {
      if (i < op.results.size() && module.value(op.results[i]).type.empty()) always(i, std::move(type));
    };
    if (gives_token(name)) {
      for (std::size_t i = 0; i < op.results.size(); ++i) always(i, token());
      return;
    }
    if (one_of(name, {"make_tensor_descriptor", "make_tensor_desc"}) && out.empty() && !in.empty())
      return always(0, parsed(in.back().starts_with("<") ? "!tt.tensordesc" + in.back() : in.back()));
    if (one_of(name, {"cmpi", "cmpf"}) && !in.empty()) return always(0, compared(parsed(in.front())));
    if (name == "select" && !in.empty()) return always(0, parsed(in.back()));
    if (name == "addptr" && !in.empty()) return always(0, parsed(in.front()));
    if (one_of(name, {"load", "atomic_rmw", "atomic_cas"}) && out.empty() && !in.empty())
      return always(0, loaded(parsed(in.front()), module));
    if (one_of(name, {"warp_group_dot_wait"}) && out.empty())
      for (std::size_t i = 0; i < op.results.size() && i < in.size(); ++i) set(i, parsed(in[i]));
    else
      for (std::size_t i = 0; i < op.results.size(); ++i) {
        if (i < out.size())
          set(i, parsed(out[i]));
        else if (one_of(name, {"tmem_load", "tmem_alloc"}) && i > 0)
          set(i, token());
        else if (out.empty() && !in.empty())
          set(i, parsed(i < in.size() && in.size() == op.results.size() ? in[i] : in.back()));
        else if (in.empty() && out.empty())
          set(i, without_type(op, name));
      }
  }

  Type compared(Type type) const {
    if (!type.tile.tile()) {
      type = {};
      type.tile.element = "i1";
      type.tile.bits = 1;
      return type;
    }
    return with_element(std::move(type), "i1", 1);
  }

  /// "arith.constant true" prints nothing; other ops without any type take after their first operand.
  Type without_type(const Op& op, std::string_view name) const {
    if (name == "constant") return parse_type("i1", module);
    return op.operands.empty() ? Type() : operand(op, 0);
  }

  void type_op(const Op& op) {
    type_results(op);
    // Block arguments whose type is not printed beside them: a loop's counter and what it carries.
    for (const mlir::RegionId region : op.regions)
      for (const mlir::BlockId block : module.region(region).blocks) type_arguments(op, module.block(block));
    if (op.name == "scf.for")
      for (std::size_t i = 0; i < op.results.size(); ++i)
        if (unset(op.results[i]) && i + 3 < op.operands.size()) types[op.results[i].index()] = operand(op, i + 3);
  }

  bool unset(mlir::ValueId id) const {
    const Type& type = types[id.index()];
    return type.tile.space == TileType::Space::None && type.tile.element.empty() && !type.descriptor && !type.pointer;
  }

  void type_arguments(const Op& op, const mlir::Block& block) {
    if (op.name != "scf.for") return;
    for (std::size_t i = 0; i < block.arguments.size(); ++i) {
      if (!unset(block.arguments[i])) continue;
      // The counter has the bounds' type; the rest what they begin with.
      types[block.arguments[i].index()] = i == 0 ? operand(op, 0) : operand(op, i + 2);
      if (i > 0 && unset(block.arguments[i]) && i - 1 < op.result_types.size())
        types[block.arguments[i].index()] = parsed(op.result_types[i - 1]);
    }
  }
};

}  // namespace

std::vector<Type> value_types(const mlir::Module& module) {
  Typer typer{module, std::vector<Type>(module.values.size())};
  for (std::size_t i = 0; i < module.values.size(); ++i)
    if (!module.values[i].type.empty()) typer.types[i] = parse_type(module.values[i].type, module);
  for (const Op& op : module.ops) typer.type_op(op);
  return typer.types;
}

}  // namespace heddle::triton
