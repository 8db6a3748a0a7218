// Ops that take longer than the problem says: the pace of a warp group's own arithmetic, below its units' rates (Machine::streams), and
// results that come later.
#pragma once

#include <vector>

#include "core/machine/machine.h"
#include "core/problem/problem.h"

namespace heddle {

/// The results of the op come so much later, to all who read them.
void delay_results(Problem& problem, OpId op, Cycle more);

/// Lengthens window and latency of an op that holds its stream while it computes, to `arithmetic_percent` of its window; what its units
/// have to do stays. Returns by how many cycles it is longer.
Cycle pace(Op& op, const std::vector<Unit>& units, const StreamCosts& streams);
/// All ops of the loop, with the edges that carry their values and the rings that they read; and its products, which take longer beside
/// arithmetic (`product_percent`).
void pace(Problem& problem, const StreamCosts& streams);

}  // namespace heddle
