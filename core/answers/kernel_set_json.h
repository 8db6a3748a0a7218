// The answer of `heddle family --json`. Written only.
#pragma once

#include "core/answers/kernel_set.h"
#include "core/base/json.h"

namespace heddle {

/// One object: every member with what is proved about it, the best per objective (as indices into `members`), and the best
/// member's schedule in full. Ratios are exact: cycles and work as integers without a common factor.
Json family_json(const FamilyAnswer& family);

}  // namespace heddle
