// How the values of a kernel lie by default. The rules are written in core/layout/plan.h.
#pragma once

#include <vector>

#include "core/layout/packed_tensors.h"

namespace heddle {

std::vector<ValuePlan> default_layouts(const MeasuredKernel& of, const PackedTensors& packed);

}  // namespace heddle
