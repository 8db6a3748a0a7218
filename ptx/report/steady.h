// The steady loop of a role, and one of its trips.
#pragma once

#include <optional>
#include <vector>

#include "ptx/report/spell.h"

namespace heddle::ptx {

struct SteadyLoop {
  int first = 0, last = 0;     ///< pcs
  std::int64_t trips = 0;      ///< of the role's first warp
  Time period = 0;             ///< median of a trip
  std::vector<RunEvent> trip;  ///< of one trip in the middle
};

/// The innermost loop that holds most of what the role waits for, loads and multiplies, one that waits before one that does not; nothing
/// where it makes fewer than three trips. Pre: the role has warps.
std::optional<SteadyLoop> steady_loop(const RunNames& names, const PtxRole& role);

}  // namespace heddle::ptx
