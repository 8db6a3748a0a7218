// Tiles of different lengths on all SMs: what the order in which they are handed out, CTAs that stay, and cutting long tiles are worth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/simulate/kernel_run.h"
#include "core/simulate/tile_grid.h"

namespace heddle {

/// One way to hand out the tiles.
struct BalanceRow {
  std::string name;  ///< "longest first, cut at 16"
  bool persistent = false, longest_first = false, second_pass = false;
  std::int64_t split = 0;
  std::int64_t iterations = 0;  ///< of the place that is busy longest, if every iteration took as long and nothing else took time
  KernelRun run;                ///< with its lanes; a fault if it could not be run
};

struct BalanceStudy {
  std::string fault;                                   ///< why there is nothing to compare
  std::int64_t tiles = 0, all_trips = 0, places = 0;   ///< places: CTAs that run at once
  std::int64_t shortest = 0, median = 0, longest = 0;  ///< trips of tiles
  double best = 0;                                     ///< iterations of each place if all had the same; no way does better
  std::vector<BalanceRow> rows;                        ///< as asked for, none left out
};

/// Lengths that are worth cutting at: powers of two, from the mean up to what is below the longest tile, up to four.
std::vector<std::int64_t> usual_cuts(const TileGrid& grid);

/// Grid order and longest first, each with a CTA per tile and with CTAs that stay; and longest first with tiles cut: at options.split if
/// that is given, else at the powers of two from the mean on. options' own order and cut are not looked at otherwise.
BalanceStudy balance_study(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options);

}  // namespace heddle
