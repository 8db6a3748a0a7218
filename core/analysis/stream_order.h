// In which order a stream issues ops that start at the same cycle.
#pragma once

#include <cstddef>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// A rank per op: among ops of one slot those of smaller rank come first, so that nothing waits for what comes later in its own
/// stream. Where the ops of one cycle wait for each other in a circle they share the last rank.
std::vector<std::size_t> tie_ranks(const Problem& problem, const Schedule& schedule);

}  // namespace heddle
