// How the values of a kernel lie where nobody chose otherwise; core/layout/plan.h says it in words.
#pragma once

#include <vector>

#include "core/layout/packed_tensors.h"

namespace heddle {

std::vector<ValuePlan> default_layouts(const MeasuredKernel& of, const PackedTensors& packed);

}  // namespace heddle
