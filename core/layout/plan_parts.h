// Inside of plan_layouts(): what was chosen put in the place of the defaults, axes before values, and what ops then do with the values.
#pragma once

#include <vector>

#include "core/layout/measured_kernel.h"

namespace heddle {

/// The plan with the axes of `plan.choices.layouts` ordered so; what cannot be is a fault at "/layouts/AXIS".
LayoutPlan with_relabelled_axes(const MeasuredKernel& of, LayoutPlan plan, std::vector<Fault>& faults);

/// The plan with `plan.choices.layouts`; those that do not exist or do not fit are faults at "/layouts/NAME" and leave the default.
LayoutPlan with_chosen_layouts(const MeasuredKernel& of, LayoutPlan plan, std::vector<Fault>& faults);

/// Of all ops that meet shared memory or choose an instruction. What was chosen and cannot be is a fault at "/instructions/OP", or at
/// "/layouts/VALUE" where only a layout was. Pre: the plan's values and packed tensors are those of the kernel.
std::map<std::string, OpPlan, std::less<>> plan_ops(const MeasuredKernel& of, const LayoutPlan& plan, std::vector<Fault>& faults);

}  // namespace heddle
