// The dependence graph for Graphviz: one cluster per warp group when a schedule is given, edges labelled
// latency/distance, loop-carried edges dashed, the critical recurrence bold.
#pragma once

#include <string>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

std::string dependence_dot(const Problem& problem, const Schedule* schedule);

}  // namespace heddle
