// Formulas of attention over sequences of their own lengths, which lie one after the other.
#pragma once

#include <span>

#include "core/kernel/reference.h"

namespace heddle {

std::span<const Reference> varlen_references();

}  // namespace heddle
