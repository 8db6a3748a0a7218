// The pace of a warp group's own arithmetic: longer than its units' rates say (Machine::streams).
#pragma once

#include "core/machine/machine.h"
#include "core/problem/problem.h"

namespace heddle {

/// Lengthens window and latency of an op that holds its stream while it computes; what its units have to do stays.
/// Returns by how many cycles.
Cycle pace(Op& op, const Machine& machine);
/// All ops of the loop, with the edges that carry their values.
void pace(Problem& problem, const Machine& machine);

}  // namespace heddle
