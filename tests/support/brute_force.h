// Exhaustive search: the truth about small problems. Tries every warp group assignment (up to renaming), every slot and
// every stage, and lets the checker judge what remains; knows nothing of the solver.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::test {

struct BruteForce {
  std::optional<Schedule> schedule;  ///< the checker accepts it; earliest start 0 unless constraints fix absolute starts
  bool gave_up = false;              ///< too many candidates: nothing is known
};

/// Is there a schedule with this II whose starts span fewer than stages * II cycles (with constraints on absolute starts
/// or stages: whose starts lie in [0, stages * II))? Depths are the least that work. `budget` counts candidates.
BruteForce brute_force(const Problem& problem, Cycle ii, int stages, const Constraints& constraints = {}, std::int64_t budget = 3'000'000);

/// Calls `visit` with every such schedule: all groups up to renaming, all starts up to a shift of all (the op that takes
/// most room has slot 0, the earliest start is 0), least depths and register budgets. False when it gave up.
bool brute_force_all(const Problem& problem, Cycle ii, int stages, const std::function<void(const Schedule&)>& visit,
                     const Constraints& constraints = {}, std::int64_t budget = 3'000'000);

/// The least II in [1, limit] with a schedule of at most that many stages; II = 0 when there is none up to the limit.
struct BruteForceMinimum {
  Cycle ii = 0;
  std::optional<Schedule> schedule;
  bool gave_up = false;
};
BruteForceMinimum brute_force_minimum(const Problem& problem, int stages, Cycle limit, const Constraints& constraints = {},
                                      std::int64_t budget = 3'000'000);

}  // namespace heddle::test
