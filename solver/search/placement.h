// A schedule without Z3, for graphs on which the first query takes long: ops are placed one by one, slot and group together;
// what stands in the way of an op that fits nowhere is taken out and placed again later, the ops that were hard to place last
// (Rau's iterative modulo scheduling with ejection by penalties). Proves nothing, and the checker judges what it finds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "solver/backend.h"

namespace heddle::solver {

struct PlacementOptions {
  Cycle ii = 1;
  int stages = 6;                   ///< no schedule of more stages is returned
  std::uint64_t seed = 0;
  std::int64_t budget = 1000;       ///< placements tried; the effort, so that giving up is repeatable
  SearchLimits limits;              ///< throws Stopped
  bool in_order = false;            ///< each group runs its ops in the order of the kernel: short lives of registers
  const Schedule* start = nullptr;  ///< one for another II, to begin with
};

/// A schedule that the checker accepts, or nothing.
std::optional<Schedule> place_ops(const Problem& problem, const Constraints& constraints, const PlacementOptions& options);

/// The same order on every unit, stream and ring at the least II that sustains it; nothing when that is not smaller or the
/// checker objects.
std::optional<Schedule> tightened(const Problem& problem, const Constraints& constraints, const Schedule& schedule);

/// Looks for schedules with low <= II < the incumbent's: from `low` upwards until there is one, and by bisection after that. `effort` 0, 1, 2 ...: how long to try, doubling; 0 tries `low` alone. Calls `found` for each
/// that is better than the ones before. options.ii, budget, start and in_order are chosen here.
void place_better(const Problem& problem, const Constraints& constraints, Cycle low, std::optional<Schedule> incumbent, int effort,
                  PlacementOptions options, const std::function<void(const Schedule&)>& found);

}  // namespace heddle::solver
