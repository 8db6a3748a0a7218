// The value of a register in the 32 lanes of a warp: bits that are known, and those that are not, with where they came from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace heddle::ptx {

using LaneMask = std::uint32_t;
constexpr LaneMask kAllLanes = 0xFFFFFFFFu;
constexpr int kLanes = 32;

/// Where an unknown value came from first: the instruction (a load of data, arithmetic on floats, ...), or -1.
using Origin = std::int32_t;

/// Lanes in `unknown` do not know the bits `unknown_bits`; their other bits are right ("no sign, whatever the number": addresses may hang
/// on them). Bits beyond the register's type are 0.
struct LaneValues {
  std::array<std::uint64_t, kLanes> bits{};
  LaneMask unknown = 0;
  std::uint64_t unknown_bits = 0;
  Origin origin = -1;

  static LaneValues all(std::uint64_t value) {
    LaneValues lanes;
    lanes.bits.fill(value);
    return lanes;
  }
  static LaneValues unknown_value(Origin origin, std::uint64_t which_bits) { return {{}, kAllLanes, which_bits, origin}; }
  /// The value that all lanes of `mask` have; nothing where they differ or one does not know it.
  std::optional<std::uint64_t> uniform(LaneMask mask) const;
  bool known(LaneMask mask) const { return (unknown & mask) == 0; }
};

}  // namespace heddle::ptx
