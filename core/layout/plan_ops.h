// What ops do with the values that a plan has laid out: the instructions of each, the default's or those chosen, and what shared memory's
// port does for it.
#pragma once

#include <vector>

#include "core/layout/measured_kernel.h"

namespace heddle {

/// Of all ops that meet shared memory or choose an instruction. What was chosen and cannot be is a fault at "/instructions/OP", or at
/// "/layouts/VALUE" where only a layout was. Pre: the plan's values and packed tensors are those of the kernel.
std::map<std::string, OpPlan, std::less<>> plan_ops(const MeasuredKernel& of, const LayoutPlan& plan, std::vector<Fault>& faults);

}  // namespace heddle
