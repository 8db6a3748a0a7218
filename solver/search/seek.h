// Schedules and refutations from the engine of the relaxation, for graphs on which queries to Z3 take long. With rings as short as they
// can be, few stages and few warp groups, so little is left open that what is found is found in milliseconds; and what the objectives
// still allow is often refuted as fast.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "solver/search/solve.h"
#include "solver/z3/backend.h"

namespace heddle::solver {

/// A schedule at that II of at most `stages` stages that the checker accepts, or nothing, which proves nothing. The effort is
/// small and counted, so that giving up is repeatable.
std::optional<Schedule> seek(const Problem& problem, const Constraints& constraints, Cycle ii, int stages, const QueryLimits& limits);

/// The same with fewer registers than a schedule of that II, if none of the objectives before them gets worse by it.
std::optional<Schedule> seek_fewer_registers(const Problem& problem, const Constraints& constraints, const Schedule& schedule,
                                             const std::vector<Objective>& objectives, const QueryLimits& limits);

/// At most so much of each.
struct ObjectiveCaps {
  int stages = 1;
  int groups = 1 << 20;  ///< beside the producer's
  std::int64_t warps = std::numeric_limits<std::int64_t>::max() / 2, smem = warps, registers = warps;
};

/// No schedule at that II keeps the caps; false says nothing.
bool refuted_within(const Problem& problem, const Constraints& constraints, Cycle ii, const ObjectiveCaps& caps, const QueryLimits& limits);

/// Values of the first objectives as caps; `stages` where they are not among them.
ObjectiveCaps caps_of(const std::vector<Objective>& objectives, const std::vector<std::int64_t>& values, int stages);

}  // namespace heddle::solver
