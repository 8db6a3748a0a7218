// Making a schedule fit new demands by arithmetic: what a dragged bar mostly needs, in microseconds and without a query. What
// comes out are proposals; the checker judges them.
#pragma once

#include <functional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::solver {

/// Moves starts as little as pins, ranges and orders ask for: the order on every unit and in every group stays, what is in the
/// way is pushed along (core/analysis/period.h says by how much), and the schedule may move as a whole. Groups stay. True when
/// the pushing ended.
bool push_starts(const Problem& problem, const Constraints& constraints, Schedule& schedule);

/// Calls `judge` with ways to adapt the schedule until it answers true: as it is, pushed, and both with groups renumbered if
/// the constraints speak of groups by number. False when nothing is accepted.
bool adapt(const Problem& problem, const Constraints& constraints, const Schedule& schedule,
           const std::function<bool(const Schedule&)>& judge);

}  // namespace heddle::solver
