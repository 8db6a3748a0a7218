// A run of a schedule as Chrome trace JSON, for Perfetto and chrome://tracing. 1 cycle is 1 ns (`ts` is in
// microseconds); true cycles are in `args`.
//
// One process; per warp group a thread for its issue slots and threads for every unit it uses. Slices of a thread never
// overlap: a unit whose ops overlap gets as many threads as are in flight at once. Asynchronous spans are b/e pairs
// with an id of their own; dependences are flows, left out above 2000.
#pragma once

#include <string>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct TraceOptions {
  int iterations = 8;
};

/// Pre: the schedule has the problem's shape. The same input gives the same bytes.
std::string chrome_trace(const Problem& problem, const Schedule& schedule, const TraceOptions& options = {});

}  // namespace heddle
