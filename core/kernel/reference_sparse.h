// Formulas of kernels whose work depends on index tensors.
#pragma once

#include <span>

#include "core/kernel/reference.h"

namespace heddle {

std::span<const Reference> sparse_references();

}  // namespace heddle
