// How far each op can move alone, all other ops fixed: the least slack of the event graph's constraints (data, stream order,
// order on units, credits; core/analysis/period.h) that it takes part in. Moving an op within its slack keeps those and
// the order of everything; registers, and limits that only three or more unit uses exceed together, are not considered.
#pragma once

#include <limits>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// When nothing holds the op in that direction.
inline constexpr Cycle kUnlimited = std::numeric_limits<Cycle>::max();

/// Cycles towards earlier and later starts; negative when a constraint is violated already, by that many cycles.
struct Slack {
  Cycle earlier = kUnlimited, later = kUnlimited;
};

/// In op order. Pre: the schedule's form is sound.
std::vector<Slack> compute_slack(const Problem& problem, const Schedule& schedule);

/// Of one dependence: how many cycles its consumer waits longer than it must; negative when violated. Pre: as above.
Cycle edge_slack(const Problem& problem, const Schedule& schedule, EdgeId edge);

}  // namespace heddle
