// From starts and groups to a whole schedule: the least depths, warps and roles, and register budgets that they need.
#pragma once

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::solver {

/// Pre: `schedule` has II, starts and groups. Groups that the user names by number keep their number.
void finish_schedule(const Problem& problem, const Constraints& constraints, Schedule& schedule);

}  // namespace heddle::solver
