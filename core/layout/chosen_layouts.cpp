// Layouts that somebody chose, put in the place of the defaults: first the orders of free axes, then values one by one.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/json.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/kernel/op_shapes.h"
#include "core/layout/layout_objections.h"
#include "core/layout/layout_store.h"
#include "core/layout/plan_parts.h"

namespace heddle {
namespace {

constexpr std::int64_t kPlannedWarps = 4;

/// Hint for a choice that is one of the other end of a move: who moves the value.
std::string what_moves(const MeasuredKernel& of, const std::string& name) {
  std::string hint;
  for (const TileOp& op : of.ops) {
    if ((op.kind != "smem_store" && op.kind != "smem_load") || op.inputs.empty() || op.outputs.empty()) continue;
    const std::string &from = op.inputs[0].value, &to = op.outputs[0];
    if (from == name || to == name)
      hint =
          fmt::format("'{}' moves it {} '{}', of which that can be said", op.name, from == name ? "to" : "from", from == name ? to : from);
  }
  return hint;
}

/// What was chosen for the value, which lies like `otherwise` by default; nothing and a fault where it cannot be read or is of other
/// places.
std::optional<ValuePlan> read_choice(const MeasuredKernel& of, std::size_t v, const ValuePlan& otherwise, const std::string& text,
                                     std::vector<Fault>& faults) {
  const std::string& name = of.value(v).name;
  const std::string pointer = pointer_to("/layouts", name);
  if (of.family == LayoutPlan::Family::None || (of.value(v).space != Space::Register && of.value(v).space != Space::Smem)) {
    faults.push_back({{}, pointer, fmt::format("the layout of '{}' cannot be chosen: it {}", printable(name), otherwise.unknown), {}});
    return std::nullopt;
  }
  const auto stored = stored_layout(text, of.shapes[v], of.bits(v), pointer, faults);
  if (!stored) return std::nullopt;
  if (stored->layout->shape != of.shapes[v]) {
    faults.push_back({{},
                      pointer,
                      fmt::format("\"{}\" is a layout of {}, and '{}' is {}", printable(text), shape_text(stored->layout->shape),
                                  printable(name), shape_text(of.shapes[v])),
                      {}});
    return std::nullopt;
  }
  const bool one = stored->layout->bases == decltype(Layout::bases){} && stored->layout->repeats.empty();  // element, wherever it lies
  if (!one && stored->layout->in_memory() != (of.value(v).space == Space::Smem)) {
    faults.push_back({{},
                      pointer,
                      fmt::format("'{}' lies in {}, and \"{}\" is a layout of {}", printable(name),
                                  of.value(v).space == Space::Smem ? "shared memory" : "registers", printable(text),
                                  stored->layout->in_memory() ? "memory" : "registers"),
                      what_moves(of, name)});
    return std::nullopt;
  }
  if (const Layout& layout = *stored->layout; of.value(v).space == Space::Register && (layout.extent(LayoutAxis::Lane) != kWarpLanes ||
                                                                                       layout.extent(LayoutAxis::Warp) != kPlannedWarps)) {
    faults.push_back(
        {{},
         pointer,
         fmt::format("\"{}\" spreads '{}' over {} lanes of {} warps, and a group has {} lanes in each of {} warps", printable(text),
                     printable(name), layout.extent(LayoutAxis::Lane), layout.extent(LayoutAxis::Warp), kWarpLanes, kPlannedWarps),
         "lanes and warps that hold copies have bases of zeros"});
    return std::nullopt;
  }
  return ValuePlan{stored->layout, stored->text, true, {}};
}

}  // namespace

LayoutPlan with_chosen_layouts(const MeasuredKernel& of, LayoutPlan plan, std::vector<Fault>& faults) {
  std::vector<std::pair<std::size_t, ValuePlan>> before;
  std::vector<std::string> free = names_of(of.kernel.free);
  for (const Tensor& tensor : of.kernel.tensors)
    if (tensor.packing == Packing::Free) free.push_back(tensor.name);
  for (const auto& [name, text] : plan.choices.layouts) {
    const auto it = of.index.find(name);
    if (std::find(free.begin(), free.end(), name) != free.end()) continue;
    if (it == of.index.end()) {
      std::vector<std::string> known = names_of(of.kernel.values);
      known.insert(known.end(), free.begin(), free.end());
      std::string hint = did_you_mean(name, known);
      faults.push_back({{},
                        pointer_to("/layouts", name),
                        fmt::format("kernel '{}' has no value '{}'", of.kernel.name, printable(name)),
                        hint.empty() ? "its values: " + list_of(known) : std::move(hint)});
      continue;
    }
    if (std::optional<ValuePlan> chosen = read_choice(of, it->second, plan.values[it->second], text, faults)) {
      before.emplace_back(it->second, std::move(plan.values[it->second]));
      plan.values[it->second] = *std::move(chosen);
    }
  }
  // Every choice is in place before one is judged: several may fit only together.
  std::vector<std::pair<std::size_t, ValuePlan>> undone;
  for (auto& [v, old] : before) {
    const bool memory = of.value(v).space == Space::Smem;
    const std::string why = memory ? shared_objection(of, plan, v, *plan.values[v].layout) : register_objection(of, plan, v);
    if (why.empty()) continue;
    const std::string& text = plan.choices.layouts.find(of.value(v).name)->second;
    faults.push_back({{},
                      pointer_to("/layouts", of.value(v).name),
                      fmt::format("{}; you chose {}", why, printable(text)),
                      memory             ? "\"panels 128\", \"panels 64\" and \"panels 32\" suit mmas and TMA"
                      : old.text.empty() ? std::string()
                                         : fmt::format("by default it lies as {}", old.text)});
    undone.emplace_back(v, std::move(old));
  }
  for (auto& [v, old] : undone) plan.values[v] = std::move(old);
  return plan;
}

}  // namespace heddle
