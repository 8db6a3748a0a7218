#include "core/simulate/tile_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturate.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostTiles = 4'000'000;
constexpr std::int64_t kMostTrips = std::int64_t{1} << 40;

}  // namespace

std::int64_t TileGrid::all_trips() const {
  if (even()) return sat_mul(tiles, trips);
  std::int64_t sum = 0;
  for (const std::int64_t t : by_tile) sum = sat_add(sum, t);
  return sum;
}

TileGrid tile_grid(const Kernel& kernel, const Scope& params, std::optional<std::int64_t> fixed_trips, bool causal) {
  causal = makes_triangle(kernel, fixed_trips, causal);
  TileGrid grid;
  std::vector<std::string> dimensions;
  std::vector<std::int64_t> sizes;
  for (const GridDim& dimension : kernel.grid) {
    const Result<std::int64_t> size = dimension.size.evaluate(params);
    sizes.push_back(size ? std::max<std::int64_t>(1, *size) : 1);
    dimensions.push_back(dimension.name);
    grid.tiles = sat_mul(grid.tiles, sizes.back());
  }
  if (!sizes.empty()) grid.rows = sizes[0];
  const Expr& trips_expr = kernel.loop.tile_trips ? *kernel.loop.tile_trips : kernel.loop.trips;
  const auto names = trips_expr.names();
  const auto varies = [&](std::size_t d) { return !fixed_trips && std::find(names.begin(), names.end(), dimensions[d]) != names.end(); };
  std::size_t used = causal ? 1 : 0;  // dimensions, from the first, that decide the trips
  for (std::size_t d = 0; d < dimensions.size(); ++d)
    if (varies(d)) used = d + 1;
  used = std::min(used, dimensions.size());
  if (used > 0 && grid.tiles > kMostTiles) {
    grid.fault = fmt::format("{} tiles of different lengths: at most {} are simulated", grid.tiles, kMostTiles);
    return grid;
  }
  const BoundExpr bound(trips_expr, params, dimensions);
  std::vector<std::int64_t> position(dimensions.size(), 0);
  const auto trips_here = [&] {
    const std::int64_t trips = fixed_trips ? *fixed_trips : bound.evaluate(position).value_or(1);
    return std::clamp<std::int64_t>(trips, fixed_trips || !kernel.loop.tile_trips ? 1 : 0, kMostTrips);
  };
  if (used == 0) {
    grid.trips = trips_here();
    return grid;
  }
  std::int64_t listed = 1;
  for (std::size_t d = 0; d < used; ++d) listed *= sizes[d];
  grid.by_tile.reserve(static_cast<std::size_t>(grid.tiles));
  for (std::int64_t tile = 0; tile < listed; ++tile) {
    const std::int64_t whole = trips_here(), row = position[0];
    const auto part = static_cast<std::int64_t>((static_cast<__int128>(row + 1) * whole + grid.rows - 1) / grid.rows);
    grid.by_tile.push_back(causal ? std::max<std::int64_t>(1, part) : whole);
    for (std::size_t d = 0; d < used && ++position[d] == sizes[d]; ++d) position[d] = 0;
  }
  for (std::int64_t tile = listed; tile < grid.tiles; ++tile) grid.by_tile.push_back(grid.by_tile[static_cast<std::size_t>(tile - listed)]);
  grid.trips = *std::max_element(grid.by_tile.begin(), grid.by_tile.end());
  if (const auto most = kernel.loop.trips.evaluate(params); kernel.loop.tile_trips && !fixed_trips && most && grid.trips > *most)
    grid.fault = fmt::format("a tile has {} iterations, the kernel's loop at most {}", grid.trips, *most);
  return grid;
}

}  // namespace heddle
