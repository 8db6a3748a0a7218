// Evaluating the grid's sizes and, row by row where they differ, the trips.
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
  if (by_row.empty()) return sat_mul(tiles, trips);
  std::int64_t row_sum = 0;
  for (const std::int64_t t : by_row) row_sum = sat_add(row_sum, t);
  return sat_mul(row_sum, tiles / rows);
}

TileGrid tile_grid(const Kernel& kernel, const Scope& params, std::optional<std::int64_t> fixed_trips, bool causal) {
  TileGrid grid;
  Scope scope = params;
  for (std::size_t d = 0; d < kernel.grid.size(); ++d) {
    const Result<std::int64_t> size = kernel.grid[d].size.evaluate(scope);
    const std::int64_t count = size ? std::max<std::int64_t>(1, *size) : 1;
    if (d == 0) grid.rows = count;
    grid.tiles = sat_mul(grid.tiles, count);
  }
  for (const GridDim& dim : kernel.grid) scope[dim.name] = 0;
  const Expr& trips_expr = kernel.loop.tile_trips ? *kernel.loop.tile_trips : kernel.loop.trips;
  const auto trips_at = [&](std::int64_t row) {
    if (!kernel.grid.empty()) scope[kernel.grid[0].name] = row;
    const Result<std::int64_t> trips = trips_expr.evaluate(scope);
    return std::clamp<std::int64_t>(fixed_trips.value_or(trips ? *trips : 1), 1, kMostTrips);
  };
  const auto names = trips_expr.names();
  const bool by_name = !fixed_trips && !kernel.grid.empty() && std::find(names.begin(), names.end(), kernel.grid[0].name) != names.end();
  grid.trips = trips_at(0);
  if (!causal && !by_name) return grid;
  if (grid.tiles > kMostTiles) {
    grid.fault = fmt::format("{} tiles of different lengths: at most {} are simulated", grid.tiles, kMostTiles);
    return grid;
  }
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    const std::int64_t whole = trips_at(row);
    const auto part = static_cast<std::int64_t>((static_cast<__int128>(row + 1) * whole + grid.rows - 1) / grid.rows);
    grid.by_row.push_back(causal ? std::max<std::int64_t>(1, part) : whole);
  }
  grid.trips = *std::max_element(grid.by_row.begin(), grid.by_row.end());
  return grid;
}

}  // namespace heddle
