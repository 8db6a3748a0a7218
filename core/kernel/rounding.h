// Rounding to the element types of tiles: nearest, ties to even, as the conversion instructions do.
#pragma once

#include <span>

#include "core/kernel/kernel.h"

namespace heddle {

/// bf16 and f16 overflow to infinity; the two 8-bit types stop at their largest number (cvt.rn.satfinite is the only
/// conversion the hardware has); i32 stops at its ends. NaN stays NaN, except in i32 where it is 0.
float round_to(DType dtype, float x);
void round_all(DType dtype, std::span<float> values);

}  // namespace heddle
