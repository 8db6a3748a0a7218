// The pace of a warp group's own arithmetic: longer than its units' rates say (Machine::streams).
#pragma once

#include <vector>

#include "core/machine/machine.h"
#include "core/problem/problem.h"

namespace heddle {

/// Lengthens window and latency of an op that holds its stream while it computes, to `percent` of its window; what its units have to do
/// stays. Returns by how many cycles.
Cycle pace(Op& op, const std::vector<Unit>& units, std::int64_t percent);
/// All ops of the loop, with the edges that carry their values and the rings that they read.
void pace(Problem& problem, std::int64_t percent);

}  // namespace heddle
