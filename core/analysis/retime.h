// The same schedule for other numbers: warp groups, the order of ops in every group and on every unit, and the stages they
// are shifted by stay; starts move. The event graph of the order (core/analysis/period.h) says what the smallest II is and, by
// longest paths, which starts go with it. No search.
#pragma once

#include <optional>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// Warps, ring depths and register budgets as this problem needs them; starts and groups stay.
/// Pre: the schedule has this problem's ops and groups that exist.
Schedule refitted(const Problem& problem, Schedule schedule);

/// The order of `like` with other starts, smallest II first: ops as early as possible, or not before their present place;
/// with the rings as deep as they are, or as deep as the order wants. They are not checked: registers, memory and user
/// constraints may object. Empty when the order deadlocks. Pre: as above.
std::vector<Schedule> retimings(const Problem& problem, const Schedule& like);

/// Of these the one with the rings as deep as they are and every op as early as possible; nothing when the order deadlocks.
std::optional<Schedule> earliest_retiming(const Problem& problem, const Schedule& like);

/// No schedule with the order of `like` has a smaller II, whatever its starts and ring depths; kNoFiniteII when the order
/// deadlocks. Pre: as above.
Cycle order_bound(const Problem& problem, const Schedule& like);

}  // namespace heddle
