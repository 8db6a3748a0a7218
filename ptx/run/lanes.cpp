#include "ptx/run/lanes.h"

namespace heddle::ptx {

std::optional<std::uint64_t> LaneValues::uniform(LaneMask mask) const {
  if (mask == 0 || (unknown & mask) != 0) return std::nullopt;
  const std::uint64_t first = bits[static_cast<std::size_t>(__builtin_ctz(mask))];
  for (LaneMask left = mask; left != 0; left &= left - 1)
    if (bits[static_cast<std::size_t>(__builtin_ctz(left))] != first) return std::nullopt;
  return first;
}

}  // namespace heddle::ptx
