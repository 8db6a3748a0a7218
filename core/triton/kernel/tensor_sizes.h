// Extents of tensors that a text does not say: as large as what the kernel touches, at the default sizes and at those of an evaluation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/kernel/kernel.h"

namespace heddle::triton {

/// Gives the kernel's parameters such values; `extents` are those of every value of the kernel.
void size_tensors(Kernel& kernel, const std::map<std::string, std::vector<std::int64_t>>& extents);

}  // namespace heddle::triton
