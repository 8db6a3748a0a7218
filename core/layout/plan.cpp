#include "core/layout/plan.h"

#include "core/base/saturate.h"
#include "core/layout/chosen_instructions.h"
#include "core/layout/default_layouts.h"
#include "core/layout/measured_kernel.h"
#include "core/layout/packed_tensors.h"
#include "core/layout/plan_parts.h"

namespace heddle {

LayoutPlan plan_layouts(const Kernel& kernel, const Scope& params, const Machine& machine, const LayoutChoices& choices,
                        std::vector<Fault>& faults) {
  const MeasuredKernel measured = measure(kernel, params, machine);
  LayoutPlan plan;
  plan.family = measured.family;
  plan.choices = choices;
  plan.packed = find_packed(measured, choices, faults);
  plan.values = default_layouts(measured, plan.packed);
  if (!choices.layouts.empty()) {
    plan = with_relabelled_axes(measured, std::move(plan), faults);
    plan = with_chosen_layouts(measured, std::move(plan), faults);
  }
  check_instructions(measured, choices, faults);
  plan.ops = plan_ops(measured, plan, faults);
  return plan;
}

bool is_copy(const TileOp& op) {
  return op.kind == "tma_load" || op.kind == "tma_store" || (op.kind == "atomic_add" && op.outputs.empty());
}

const std::string& tile_of_copy(const TileOp& copy) { return copy.outputs.empty() ? copy.inputs.front().value : copy.outputs.front(); }

const OpPlan* LayoutPlan::find(std::string_view op) const {
  const auto it = ops.find(op);
  return it == ops.end() ? nullptr : &it->second;
}

std::int64_t LayoutPlan::scratch_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [name, op] : ops) bytes = sat_add(bytes, op.scratch_bytes);
  return bytes;
}

std::string_view hand_over_instruction(const LayoutPlan* plan, std::string_view op) {
  const OpPlan* of = plan ? plan->find(op) : nullptr;
  return of && of->instruction.name.starts_with("st.shared.") ? std::string_view(of->instruction.name) : "st.shared.4";
}

}  // namespace heddle
