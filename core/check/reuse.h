// What one schedule is worth for other numbers, without a search.
#pragma once

#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// The schedule at its own starts, if the checker accepts it for this problem once warps, ring depths and register budgets are
/// fitted. Pre: the problem has the ops that the schedule was made for.
std::optional<Schedule> still_valid(const Problem& problem, const Schedule& schedule, const Constraints& constraints);

/// Of still_valid() and of the retimings (core/analysis/retime.h) the one with the smallest II that the checker accepts: groups
/// and order stay.
std::optional<Schedule> best_in_order(const Problem& problem, const Schedule& schedule, const Constraints& constraints);

}  // namespace heddle
