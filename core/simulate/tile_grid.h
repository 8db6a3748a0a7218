// The tiles of a kernel's grid and the iterations of each, as runs of one length where they are alike: grids may be huge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel/kernel.h"

namespace heddle {

struct TileGrid {
  std::int64_t tiles = 1, rows = 1;  ///< rows: along the first dimension
  std::int64_t trips = 1;            ///< of the longest
  std::vector<std::int64_t> by_row;  ///< empty: all the same
  std::string fault;                 ///< why it cannot be listed; empty when it could
  std::int64_t of(std::int64_t tile) const { return by_row.empty() ? trips : by_row[static_cast<std::size_t>(tile % rows)]; }
  /// Iterations of all tiles together, saturated.
  std::int64_t all_trips() const;
};

/// `trips` replaces the kernel's own; `causal` as in KernelRunOptions. Pre: `params` holds every parameter.
TileGrid tile_grid(const Kernel& kernel, const Scope& params, std::optional<std::int64_t> trips = {}, bool causal = false);

}  // namespace heddle
