// The dependence graph for Graphviz: one cluster per warp group when a schedule is given, edges labelled
// latency/distance, loop-carried edges dashed, the critical recurrence bold.
#pragma once

#include <string>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/end_ops.h"

namespace heddle {

/// `ends`: prologue and epilogue, dashed; null: they are left out.
std::string dependence_dot(const Problem& problem, const Schedule* schedule, const EndOps* ends = nullptr);

}  // namespace heddle
