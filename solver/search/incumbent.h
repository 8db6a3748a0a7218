// Schedules to start from, without Z3: placed op by op at ever closer targets, then tightened.
#pragma once

#include <functional>
#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "solver/search/placement.h"

namespace heddle::solver {

/// The same order on every unit, stream and ring at the least II that sustains it; nothing when that is not smaller or
/// the checker objects.
std::optional<Schedule> tightened(const Problem& problem, const Constraints& constraints, const Schedule& schedule);

/// What is looked for: low <= II < the incumbent's.
struct PlacementGoal {
  Cycle low = 1;
  std::optional<Schedule> incumbent{};
  int effort = 0;  ///< 0, 1, 2 ...: how long to try, doubling; 0 tries `low` alone
};

/// From 2 * low upwards until there is a schedule, and by bisection after that. Calls `found` for each that is better than the ones
/// before. options.ii, budget, start and in_order are chosen here.
void place_better(const Problem& problem, const Constraints& constraints, PlacementGoal goal, PlacementOptions options,
                  const std::function<void(const Schedule&)>& found);

}  // namespace heddle::solver
