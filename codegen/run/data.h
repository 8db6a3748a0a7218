// Tensors as bytes in their own types: made, read, and compared with what they should be.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/run/plan.h"
#include "core/records/measurement.h"

namespace heddle::codegen {

/// Inputs of a case, row-major; the same for the same seed everywhere. Integers: -2 to 2. Random: about normal with variance 1.
/// Outliers: the same, every 61st row of the last dimension four times as large. Accumulated outputs begin with zeros. Two numbers
/// of 4 bits share a byte, the first of them its lower half.
std::vector<std::uint8_t> make_data(const TensorPlan& tensor, const CasePlan& what, std::size_t index, std::uint64_t seed);

/// An element as a number.
float element(const TensorPlan& tensor, std::span<const std::uint8_t> bytes, std::int64_t at);

/// A tensor in its own type, rounded to nearest.
std::vector<std::uint8_t> as_bytes(const TensorPlan& tensor, std::span<const float> values);

/// `computed` against `reference` (NaN: whatever is there will do); `rounded` is what a plain bf16 program makes of it, for
/// Criterion::Attention, else empty.
OutputCheck check_output(const TensorPlan& tensor, const std::string& input, const Expected& expected,
                         std::span<const std::uint8_t> computed, std::span<const float> reference, std::span<const float> rounded);

}  // namespace heddle::codegen
