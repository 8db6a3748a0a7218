// Addresses for tensors of which nobody said where they lie: far apart, so that what runs beyond one meets no other.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ptx/launch/launch.h"

namespace heddle::ptx {

class MadeUpMemory {
 public:
  /// Behind everything that the launch has already.
  explicit MadeUpMemory(const Launch& launch) {
    for (const GlobalBuffer& buffer : launch.buffers) keep_clear(buffer.address, buffer.bytes);
    for (const PlacedMap& placed : launch.maps) keep_clear(placed.map.address, tensor_bytes(placed.map));
  }

  std::uint64_t take(std::uint64_t bytes) {
    const std::uint64_t address = next_;
    keep_clear(address, bytes);
    return address;
  }

 private:
  static constexpr std::uint64_t kStep = std::uint64_t{1} << 32, kBegin = 0x500100000000, kEnd = std::uint64_t{1} << 62;
  void keep_clear(std::uint64_t address, std::uint64_t bytes) {
    if (address < kEnd && bytes < kEnd) next_ = std::max(next_, (address + bytes) / kStep * kStep + kStep);
  }
  std::uint64_t next_ = kBegin;
};

/// How far a pointer reaches of which nobody said how far.
inline constexpr std::uint64_t kMadeUpBytes = std::uint64_t{1} << 30;

}  // namespace heddle::ptx
