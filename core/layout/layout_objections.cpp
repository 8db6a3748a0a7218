#include "core/layout/layout_objections.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "core/kernel/op_shapes.h"
#include "core/layout/known.h"
#include "core/layout/packed_tensors.h"

namespace heddle {
namespace {

/// Reads and writes element by element.
bool is_each(const TileOp& op) {
  return op.kind == "map" || op.kind == "elementwise" || op.kind == "exp2" || op.kind == "mask" || op.kind == "broadcast";
}

/// Why what a product reads and what it makes are not ordered alike.
std::string order_objection(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op) {
  if (!of.products() || op.inputs.size() < 2 || op.outputs.empty()) return {};
  const std::size_t b = of.index_of(op.inputs[1].value), d = of.index_of(op.outputs[0]);
  const auto &rows = plan.values[b].layout, &columns = plan.values[d].layout;
  if (!rows || !columns || of.shapes[d].size() != 2) return {};
  const bool of_rows = relabelled_swizzle(*rows, of.bits(b)).has_value(),
             of_columns = known_name(*columns, of.bits(d)) == kRelabelledResult;
  if (of_rows && !flag_attr(op, "transpose_b"))
    return fmt::format("{} reads '{}' column by column", of.asker(op), printable(of.value(b).name));
  if (of_rows == of_columns) return {};
  return fmt::format("{} makes '{}', which lies as {}, of '{}', which lies as {}: columns and rows are ordered otherwise", of.asker(op),
                     printable(of.value(d).name), plan.values[d].text, printable(of.value(b).name), plan.values[b].text);
}

/// A vector in registers that the op lays over a tile, or makes of it: each number lies where its row or column does.
struct Laid {
  std::size_t vector = 0, tile = 0;
  bool by_column = false;
};
std::vector<Laid> laid_by(const MeasuredKernel& of, const TileOp& op) {
  std::vector<Laid> laid;
  const auto in_registers = [&](std::size_t v, std::size_t dimensions) {
    return of.value(v).space == Space::Register && of.shapes[v].size() == dimensions;
  };
  const auto add = [&](std::size_t vector, std::size_t tile, bool by_column) {
    if (of.shapes[vector][0] > 1 && of.shapes[vector][0] == of.shapes[tile][by_column ? 1 : 0]) laid.push_back({vector, tile, by_column});
  };
  if (op.outputs.empty()) return laid;
  const std::size_t result = of.index_of(op.outputs[0]);
  if (is_reduction(op.kind)) {
    if (op.inputs.empty() || !in_registers(result, 1)) return laid;
    if (const std::size_t tile = of.index_of(op.inputs[0].value); in_registers(tile, 2))
      add(result, tile, integer_attr(op, "axis", 1) == 0);
    return laid;
  }
  if (!is_each(op) || !in_registers(result, 2)) return laid;
  for (std::size_t k = 0; k < op.inputs.size(); ++k)
    if (const std::size_t v = of.index_of(op.inputs[k].value); in_registers(v, 1)) add(v, result, of.takes_by_column(op, k));
  return laid;
}

}  // namespace

std::string shared_objection(const MeasuredKernel& of, const LayoutPlan& plan, std::size_t v, const Layout& layout) {
  if (const auto order = packed_order(of, plan.packed, v))
    return known_name(layout, of.bits(v)) == (*order == PackedOrder::Lines ? "packed lines" : "packed")
               ? std::string()
               : fmt::format("'{}' is a tile of a prepacked tensor, and lies as it does there", printable(of.value(v).name));
  const std::optional<int> swizzle = swizzle_of(layout, of.bits(v)), relabelled = relabelled_swizzle(layout, of.bits(v));
  // Products are harder to please than copies.
  std::string by_copy;
  for (const TileOp& op : of.ops) {
    const auto reads = [&](std::size_t k) { return k < op.inputs.size() && op.inputs[k].value == of.value(v).name; };
    if (op.kind == "mma" && (reads(0) || reads(1)) && swizzle.value_or(0) == 0 && !(relabelled && !reads(0)))
      return fmt::format("'{}' is read by {}, which needs panels of 32, 64 or 128 bytes", printable(of.value(v).name), of.asker(op));
    if (op.kind == "mma" && reads(1))
      if (std::string why = order_objection(of, plan, op); !why.empty()) return why;
    const bool moved = is_copy(op) && (reads(0) || (!op.outputs.empty() && op.outputs[0] == of.value(v).name));
    if (moved && !swizzle && by_copy.empty() && known_name(layout, of.bits(v)) == kAtomsOf32)
      by_copy = fmt::format("'{}' is {} {}, which exchanges pieces of 16 bytes, not of 32, {}", printable(of.value(v).name),
                            reads(0) ? "read by" : "written by", of.asker(op),
                            of.tensor_products() ? "as far as it is written" : "on this machine");
    if (moved && !swizzle && !(relabelled && op.kind == "tma_load") && by_copy.empty())
      by_copy =
          fmt::format("'{}' is {} {}, which needs panels", printable(of.value(v).name), reads(0) ? "read by" : "written by", of.asker(op));
  }
  if (by_copy.empty() && layout.extent(LayoutAxis::Offset) > layout.elements())
    return fmt::format("'{}' has {} elements and would take the room of {}, and padding is not written yet", printable(of.value(v).name),
                       layout.elements(), layout.extent(LayoutAxis::Offset));
  return by_copy;
}

std::string register_objection(const MeasuredKernel& of, const LayoutPlan& plan, std::size_t v) {
  const Layout& layout = *plan.values[v].layout;
  const std::string name = printable(of.value(v).name);
  const bool tile = of.shapes[v].size() == 2;
  for (const TileOp& op : of.ops) {
    const std::string asker = of.asker(op);
    const bool made = std::find(op.outputs.begin(), op.outputs.end(), of.value(v).name) != op.outputs.end();
    if (op.kind == "mma" && of.products() && tile && of.shapes[v][0] == 64) {
      const std::int64_t columns = of.shapes[v][1];
      const bool a = op.inputs[0].value == of.value(v).name;
      const bool accumulates = made || (op.inputs.size() > 2 && op.inputs[2].value == of.value(v).name);
      const auto other = relabelled(accumulator_layout(columns), 1);
      if (accumulates && !same_places(layout, accumulator_layout(columns)) && !(other && same_places(layout, *other)))
        return fmt::format("'{}' is the accumulator of {}", name, asker);
      if (accumulates)
        if (std::string why = order_objection(of, plan, op); !why.empty()) return why;
      if (a && (columns * of.bits(v) % 256 != 0 || !same_places(layout, operand_layout(columns, of.bits(v)))))
        return fmt::format("'{}' is an operand of {}, which takes it as \"operand\"", name, asker);
    }
    for (const Laid& laid : laid_by(of, op)) {
      const std::size_t other = laid.vector == v ? laid.tile : laid.vector;
      if ((laid.vector != v && laid.tile != v) || !plan.values[other].layout) continue;
      const Layout follows = without_dimension(*plan.values[laid.tile].layout, laid.by_column ? 0 : 1);
      if (!same_places(follows, *plan.values[laid.vector].layout))
        return fmt::format("'{}' and '{}', which lies as {}, meet in {}: a number per {} lies where its {} does", name,
                           printable(of.value(other).name), plan.values[other].text, asker, laid.by_column ? "column" : "row",
                           laid.by_column ? "column" : "row");
    }
    const bool takes = std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in.value == of.value(v).name; });
    if ((!is_each(op) && !is_reduction(op.kind)) || (!made && !takes)) continue;
    // Vectors over a tile are not laid over each other.
    if (!tile && !op.outputs.empty() && of.shapes[of.index_of(op.outputs[0])].size() != 1) continue;
    std::vector<std::string> others = op.outputs;
    for (const Operand& in : op.inputs) others.push_back(in.value);
    for (const std::string& other : others) {
      const std::size_t o = of.index_of(other);
      const ValuePlan& lies = plan.values[o];
      if (o == v || of.value(o).space != Space::Register || of.shapes[o] != of.shapes[v] || !lies.layout) continue;
      if (!same_places(*lies.layout, layout))
        return fmt::format("'{}' and '{}', which lies as {}, meet element by element in {}", name, printable(other), lies.text, asker);
    }
  }
  return {};
}

}  // namespace heddle
