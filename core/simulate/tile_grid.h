// The tiles of a kernel's grid and the iterations of each. Where all have the same they are not listed: grids may be huge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel/kernel.h"

namespace heddle {

struct TileGrid {
  std::int64_t tiles = 1, rows = 1;   ///< rows: along the first dimension, which counts fastest
  std::int64_t trips = 1;             ///< of the longest
  std::vector<std::int64_t> by_tile;  ///< may be 0; empty: all the same
  std::string fault;                  ///< why it cannot be listed; empty when it could

  bool even() const { return by_tile.empty(); }
  /// Iterations of all tiles together, saturated.
  std::int64_t all_trips() const;
};

/// Whether `causal` makes a triangle of the trips. Tiles that have trips of their own have one already, or something else.
inline bool makes_triangle(const Kernel& kernel, const std::optional<std::int64_t>& trips, bool causal) {
  return causal && (trips || !kernel.loop.tile_trips);
}

/// `trips` replaces the kernel's own; `causal` as in KernelRunOptions. Pre: `params` holds every parameter, and the index tensors.
TileGrid tile_grid(const Kernel& kernel, const Scope& params, std::optional<std::int64_t> trips = {}, bool causal = false);

}  // namespace heddle
