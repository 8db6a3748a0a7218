// Tensor maps that a program has packed by itself, as CuTe DSL's host code does without asking the driver.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/launch/launch.h"

namespace heddle::ptx::capture {

/// What these 128 bytes say, if they may be a tensor map of sm_90 or later at all. The layout is not documented; it was read off maps whose
/// sizes were known: GEMMs of CuTe DSL 4.8.1 with 64- and 128-byte swizzles, and a map of each type that it has (the number of f32_ftz,
/// which it has not, is the one that is left). Atoms of swizzles are not read.
std::optional<TensorMap> read_hardware_map(const std::uint8_t* bytes);

}  // namespace heddle::ptx::capture
