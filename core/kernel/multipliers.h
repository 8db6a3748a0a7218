// Parameters that multiply and divide, and are 1 by default: GROUP, heads of queries for each head of keys. Where one is 1, the kernel is
// the one without it, down to its text; switches (core/kernel/switches.h) see to that.
#pragma once

#include <string>
#include <vector>

#include "core/kernel/kernel.h"

namespace heddle {

/// Names of parameters that are 1 by default, that something is divided by, and that no expression but conditions on parameters names
/// otherwise than as a factor or a divisor. (What nothing is divided by may be a size at run time.)
std::vector<std::string> multipliers(const Kernel& kernel);

/// It is one of those of the kernel's file, or was, and is 1 for good (held(), core/kernel/switches.h).
bool is_multiplier(const Kernel& kernel, const Param& param);

/// The kernel with this multiplier as 1: no expression names it any more. Pre: it is one.
void leave_out(Kernel& kernel, const std::string& multiplier);

}  // namespace heddle
