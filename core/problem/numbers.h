// The numbers that a kernel's schedules on a machine depend on and that may be wrong by some percent: costs, capacities,
// hand-offs, sizes of memories. What is a matter of counting (threads of a warp, the granule of registers) is not among them.
#pragma once

#include <string>
#include <vector>

#include "core/problem/changes.h"
#include "core/problem/problem.h"

namespace heddle {

/// One change per number, with its effect still to be set. Rules come in the machine's order, each with latency, window, and
/// per unit duration and amount; then what ops give themselves; then capacities, limits and hand-offs.
/// Pre: `problem` was resolved from the two.
Changes numbers_of(const Kernel& kernel, const Machine& machine, const Problem& problem);

/// The values that the number has in the problem, ascending, each once; empty for hand-offs, which depend on sizes.
std::vector<std::int64_t> values_of(const Problem& problem, const Change& number);

}  // namespace heddle
