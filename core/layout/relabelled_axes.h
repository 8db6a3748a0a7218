// Free axes that were chosen to be in another order: of the results of products, and of what products read row by row.
#pragma once

#include <vector>

#include "core/layout/measured_kernel.h"

namespace heddle {

/// The plan with the axes of `plan.choices.layouts` ordered so; what cannot be is a fault at "/layouts/AXIS".
LayoutPlan with_relabelled_axes(const MeasuredKernel& of, LayoutPlan plan, std::vector<Fault>& faults);

}  // namespace heddle
