// The rule of Triton's OptimizeTMemLayouts for loads in front of reductions, and where RemoveLayoutConversions leaves the conversion that
// follows from it: at the narrowest point, a column of one number for each row.
#include "core/triton/memory/row_layouts.h"

#include <algorithm>

#include "core/triton/memory/scratch.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

using dump::TileType;
using mlir::Op;
using mlir::OpId;
using mlir::ValueId;

constexpr std::int64_t kRows = 128;

bool elementwise(const Op& op) {
  return op.name.starts_with("arith.") || op.name.starts_with("math.") || op.name == "tt.fp_to_fp" || op.name == "ttg.convert_layout" ||
         op.name == "tt.clampf" || op.name == "tt.mulhiui";
}

/// Four warps over 32 rows each with 16 rows in a pass, two groups over the halves of those; two threads share a row.
TritonLayout row_layout(std::int64_t columns) {
  TritonLayout layout;
  layout.kind = TritonLayout::Kind::Linear;
  layout.name = "linear";
  for (std::int64_t step = 1; step < columns / 2; step *= 2) layout.registers.push_back({0, step});
  layout.lanes = {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, columns / 2}};
  layout.warps = {{32, 0}, {64, 0}, {16, 0}};
  return layout;
}

bool cut_by_columns(const Type& type) {
  return type.tile.shape.size() == 2 && type.tile.shape[0] == kRows && type.tile.shape[1] >= 2 &&
         type.layout.kind == TritonLayout::Kind::Linear &&
         std::ranges::any_of(type.layout.warps, [](const auto& basis) { return basis.size() == 2 && basis[1] != 0; });
}

}  // namespace

RowLayouts::RowLayouts(const TritonProgram& program, const Places& places) : program_(program), places_(places) {
  if (program.target < 100 || program.num_warps != 8) return;
  const mlir::Module& module = *program.module;
  for (std::size_t i = 0; i < module.ops.size() && loads_.size() < 64; ++i) {
    const Op& op = module.ops[i];
    if (!op.name.ends_with(".tmem_load") || op.results.empty() || !cut_by_columns(program.type(op.results.front()))) continue;
    if (!reduced_along_rows(OpId(i))) continue;
    loads_.insert(i);
    const TritonLayout& layout = program.type(op.results.front()).layout;
    if (std::ranges::find(original_, layout) == original_.end()) original_.push_back(layout);
  }
}

bool RowLayouts::reduced_along_rows(OpId load) const {
  const mlir::Module& module = *program_.module;
  std::vector<ValueId> values{module.op(load).results.front()};
  for (std::size_t i = 0; i < values.size() && i < 256; ++i)
    for (const OpId reader : places_.readers(values[i])) {
      const Op& op = module.op(reader);
      if (op.name == "tt.reduce" && op.integer("axis", 0) == 1) return true;
      if (!elementwise(op) || op.results.empty()) continue;
      if (std::ranges::find(values, op.results.front()) == values.end()) values.push_back(op.results.front());
    }
  return false;
}

std::vector<OpId> RowLayouts::origins(ValueId value) const {
  const mlir::Module& module = *program_.module;
  std::vector<ValueId> values{value};
  std::vector<OpId> found;
  for (std::size_t i = 0; i < values.size() && i < 256; ++i) {
    const OpId made = module.value(values[i]).definer;
    if (!made.valid()) continue;
    const Op& op = module.op(made);
    if (op.name.ends_with(".tmem_load")) found.push_back(made);
    if (!elementwise(op)) continue;
    for (const ValueId operand : op.operands)
      if (program_.type(operand).tile.shape == program_.type(value).tile.shape && std::ranges::find(values, operand) == values.end())
        values.push_back(operand);
  }
  return found;
}

bool RowLayouts::by_rows(ValueId value) const {
  return std::ranges::any_of(origins(value), [&](OpId load) { return loads_.contains(load.index()); });
}

/// A vector or column of numbers for each row, under the layout that its tile will have.
Type RowLayouts::relaid(const Type& type) const {
  Type out = type;
  const auto replace = [&](TritonLayout& layout) {
    const auto known = std::ranges::find(original_, layout);
    if (known == original_.end()) return;
    std::int64_t columns = 2;
    for (const std::vector<std::vector<std::int64_t>>* part : {&layout.registers, &layout.lanes, &layout.warps})
      for (const std::vector<std::int64_t>& basis : *part)
        if (basis.size() == 2) columns = std::max(columns, 2 * basis[1]);
    layout = row_layout(columns);
  };
  if (out.layout.kind == TritonLayout::Kind::Slice && out.layout.dim == 1 && !out.layout.parent.empty())
    replace(out.layout.parent.front());
  else
    replace(out.layout);
  return out;
}

void RowLayouts::scratch(MemoryPlan& plan, OpId id) const {
  const Op& op = program_.module->op(id);
  if (loads_.empty() || op.operands.empty() || op.results.empty()) return add_scratch(plan, program_, places_, id);
  Scratch needed;
  if (op.name == "tt.reduce" && by_rows(op.operands.front())) {
    std::vector<Type> inputs;
    for (std::size_t i = 0; i < op.operands.size(); ++i) inputs.push_back(relaid(program_.operand_type(op, i)));
    needed = scratch_of_reduce(inputs, op.integer("axis", 0), exchanges_in_rounds(program_));
  } else if (op.name == "ttg.convert_layout" &&
             (program_.operand_type(op, 0).tile.shape.size() == 1 || program_.operand_type(op, 0).tile.shape.back() == 1)) {
    needed = scratch_of_convert(relaid(program_.operand_type(op, 0)), relaid(program_.type(op.results.front())), program_.target);
  } else if (op.name == "tt.broadcast") {
    // Meets a tile that stays as it was.
    const Type& column = program_.operand_type(op, 0);
    if (column.tile.shape.size() != 2 || column.tile.shape[1] != 1) return;
    const bool meets = std::ranges::any_of(places_.readers(op.results.front()), [&](OpId reader) {
      const Op& other = program_.module->op(reader);
      return std::ranges::any_of(other.operands, [&](ValueId operand) {
        return operand != op.results.front() &&
               std::ranges::any_of(origins(operand), [&](OpId load) { return !loads_.contains(load.index()); }) && !by_rows(operand);
      });
    });
    if (meets) needed = scratch_of_convert(relaid(column), column, program_.target);
  } else {
    return add_scratch(plan, program_, places_, id);
  }
  add_scratch(plan, program_, places_, id, needed);
}

}  // namespace heddle::triton
