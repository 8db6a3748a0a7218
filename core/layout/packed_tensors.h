// Tensors whose bytes, and tiles in shared memory, are packed (core/kernel/packed.h): which are, in which order, and why others are not.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/measured_kernel.h"

namespace heddle {

using PackedTensors = std::map<std::string, PackedOrder, std::less<>>;

/// Those that say so, and those that may be and were chosen to be.
PackedTensors find_packed(const MeasuredKernel& of, const LayoutChoices& choices, std::vector<Fault>& faults);

/// Of a tile in shared memory: a copy brings it from a packed tensor, or takes it there; in registers: numbers of 4 bits that are loaded
/// from there.
std::optional<PackedOrder> packed_order(const MeasuredKernel& of, const PackedTensors& packed, std::size_t v);

}  // namespace heddle
