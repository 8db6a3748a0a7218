#include "core/simulate/balance_study.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/integer_division.h"
#include "core/simulate/dispatch.h"
#include "core/simulate/tile_grid.h"

namespace heddle {
namespace {

constexpr std::size_t kMostCuts = 4;

}  // namespace

std::vector<std::int64_t> usual_cuts(const TileGrid& grid) {
  std::vector<std::int64_t> cuts;
  if (grid.even()) return cuts;
  const std::int64_t mean = ceil_div(grid.all_trips(), grid.tiles);
  std::int64_t cut = 1;
  while (cut < mean) cut *= 2;
  for (; cut < grid.trips && cuts.size() < kMostCuts; cut *= 2) cuts.push_back(cut);
  return cuts;
}

BalanceStudy balance_study(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options) {
  BalanceStudy study;
  const TileGrid grid = tile_grid(instance.kernel(), instance.problem().params, options.trips, options.causal);
  study.fault = grid.fault;
  if (!study.fault.empty()) return study;
  study.tiles = grid.tiles;
  study.all_trips = grid.all_trips();
  const std::int64_t sms = std::max<std::int64_t>(1, instance.machine().sm_count);
  study.places = sms * std::max(1, options.ctas.value_or(occupancy_of(instance.problem(), schedule).ctas));
  study.best = static_cast<double>(study.all_trips) / static_cast<double>(study.places);
  study.shortest = study.median = study.longest = grid.trips;
  if (grid.even()) {
    study.fault = fmt::format("all {} tiles have {} iterations: no order is better than another", grid.tiles, grid.trips);
    return study;
  }
  std::vector<std::int64_t> lengths = grid.by_tile;
  std::sort(lengths.begin(), lengths.end());
  study.shortest = lengths.front(), study.median = lengths[lengths.size() / 2];
  const auto add = [&](std::string name, bool persistent, bool longest_first, std::int64_t split, bool second_pass) {
    BalanceRow row{std::move(name), persistent, longest_first, second_pass, split, 0, {}};
    std::vector<std::int64_t> order = split_tiles(grid.by_tile, split);
    if (longest_first) sort_longest_first(order);
    row.iterations = dispatch(order, study.places, [](std::int64_t trips) { return trips; }).cycles;
    KernelRunOptions one = options;
    one.persistent = persistent, one.longest_first = longest_first, one.split = split, one.second_pass = second_pass, one.lanes = true;
    one.loop.timeline = 0;
    row.run = run_kernel(instance, schedule, one);
    study.rows.push_back(std::move(row));
  };
  add("grid order", false, false, 0, false);
  add("longest first", false, true, 0, false);
  add("grid order, CTAs that stay", true, false, 0, false);
  add("longest first, CTAs that stay", true, true, 0, false);
  for (const std::int64_t cut : options.split > 0 ? std::vector{options.split} : usual_cuts(grid))
    for (const bool second : {false, true}) {
      if (!second && !merge_fault(instance.kernel()).empty()) continue;
      add(fmt::format("longest first, cut at {}, {}", cut, second ? "a second pass" : "added up"), false, true, cut, second);
    }
  return study;
}

}  // namespace heddle
