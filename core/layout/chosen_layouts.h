// Layouts that somebody chose, put in the place of the defaults: first the orders of free axes, then values one by one.
#pragma once

#include <vector>

#include "core/layout/measured_kernel.h"

namespace heddle {

/// The plan with `plan.choices.layouts`; those that do not exist or do not fit are faults at "/layouts/NAME" and leave the default.
LayoutPlan with_chosen_layouts(const MeasuredKernel& of, LayoutPlan plan, std::vector<Fault>& faults);

}  // namespace heddle
