// Free axes that were chosen to be in another order: of the results of products, and of what products read row by row.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/kernel/free_axes.h"
#include "core/kernel/op_shapes.h"
#include "core/layout/layout_objections.h"
#include "core/layout/layout_store.h"
#include "core/layout/plan_parts.h"

namespace heddle {
namespace {

/// Loads bring it, or what it is moved from, and moves through registers take it to the second operand of a product.
bool feeds_operand(const MeasuredKernel& of, std::string_view name) {
  // From the loads on.
  std::vector<std::string_view> on_its_way;
  const auto is = [&](const std::string& each) { return std::find(on_its_way.begin(), on_its_way.end(), each) != on_its_way.end(); };
  bool fed = false;
  for (const TileOp& op : of.kernel.body) {
    const bool moves = op.kind == "smem_load" || op.kind == "copy" || op.kind == "smem_store";
    if (op.kind == "tma_load" || (moves && is(op.inputs[0].value))) on_its_way.push_back(op.outputs[0]);
  }
  for (std::vector<std::string_view> reached{name}; !reached.empty() && is(std::string(name));) {
    const std::string_view from = reached.back();
    reached.pop_back();
    for (const TileOp& op : of.kernel.body) {
      if (op.inputs.empty() || op.outputs.empty() || op.inputs[0].value != from) continue;
      if (op.kind == "smem_load" || op.kind == "copy" || op.kind == "smem_store") {
        reached.push_back(op.outputs[0]);
        fed = fed || (op.kind == "smem_store" && std::any_of(of.kernel.body.begin(), of.kernel.body.end(), [&](const TileOp& each) {
                        return each.kind == "mma" && each.inputs[1].value == op.outputs[0];
                      }));
      }
    }
  }
  return fed;
}

std::string relabel(const MeasuredKernel& of, LayoutPlan& plan, const FreeAxis& axis) {
  if (!of.products()) return "it is for wgmma that axes are relabelled";
  const AxisWalk walk = walk_axis(of.kernel, of.params, axis);
  if (!walk.objection.empty()) return walk.objection;
  std::vector<std::pair<std::size_t, std::string>> others;
  for (const auto& [name, dimension] : walk.along) {
    const std::size_t v = of.index_of(name);
    const std::vector<std::int64_t>& shape = of.shapes[v];
    const std::string quoted = "'" + printable(name) + "'";
    bool operand = false, read_by_row = false, boxed = true;
    for (const TileOp& op : of.ops) {
      const auto reads = [&, &value = name](std::size_t k) { return k < op.inputs.size() && op.inputs[k].value == value; };
      const bool multiplies = op.kind == "mma", tb = flag_attr(op, "transpose_b");
      if (multiplies && reads(0)) operand = true;
      if (multiplies && reads(1)) (dimension == (tb ? 0u : 1u) ? read_by_row : operand) = true;
      if (op.kind == "tma_load" && op.outputs[0] == name) {
        const Tensor* tensor = of.kernel.find_tensor(op.tensor);
        const std::size_t rank = tensor ? tensor->shape.size() : 0;
        const auto rows = rank >= 2 ? tensor->shape[rank - 2].evaluate(of.params) : Result<std::int64_t>(0);
        // Boxes with rows in another order do not end in the middle of a tensor.
        boxed = boxed && rows.ok() && *rows > 0 && *rows % shape[0] == 0;
      } else if (std::find(op.outputs.begin(), op.outputs.end(), name) != op.outputs.end()) {
        boxed = false;
      }
    }
    if (operand && read_by_row) return fmt::format("{} is an operand of two mmas, whose order differs", quoted);
    if (operand || feeds_operand(of, name)) continue;  // along K everything stays in its order
    if (shape.size() != 2 || shape[dimension] % 16 != 0)
      return fmt::format("{} lies along it, and is no tile with a multiple of 16 of it", quoted);
    if (of.value(v).space == Space::Register) {
      if (dimension != 1 || plan.values[v].text != "accumulator")
        return fmt::format("{} lies along it, and not as a result of wgmma", quoted);
      others.emplace_back(v, kRelabelledResult);
    } else {
      if (!read_by_row || dimension != 0 || !boxed)
        return fmt::format(
            "{} lies along it, and is not brought by TMA for an mma that takes it row by row, with whole tiles in its tensor", quoted);
      others.emplace_back(v, plan.values[v].text + " relabelled");
    }
  }
  std::vector<Fault> none;
  for (const auto& [v, text] : others) {
    const auto stored = stored_layout(text, of.shapes[v], of.bits(v), {}, none);
    if (!stored) return fmt::format("'{}' does not lie as {}", printable(of.value(v).name), text);
    plan.values[v] = {stored->layout, stored->text, true, {}};
  }
  return {};
}

}  // namespace

LayoutPlan with_relabelled_axes(const MeasuredKernel& of, LayoutPlan plan, std::vector<Fault>& faults) {
  for (const FreeAxis& axis : of.kernel.free) {
    const auto said = plan.choices.layouts.find(axis.name);
    if (said == plan.choices.layouts.end() || said->second == kNaturalOrder) continue;
    const std::string pointer = pointer_to("/layouts", axis.name);
    if (said->second != kRelabelledOrder)
      faults.push_back({{},
                        pointer,
                        fmt::format("the axis '{}' cannot be ordered as \"{}\"", axis.name, printable(said->second)),
                        fmt::format("it is \"{}\" or \"{}\"", kNaturalOrder, kRelabelledOrder)});
    else if (std::string why = relabel(of, plan, axis); !why.empty())
      faults.push_back({{}, pointer, fmt::format("the axis '{}' cannot be relabelled: {}", axis.name, why), {}});
  }
  return plan;
}

}  // namespace heddle
