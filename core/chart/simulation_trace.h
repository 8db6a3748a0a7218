// A simulated run as Chrome trace JSON, for Perfetto and chrome://tracing. 1 cycle is 1 ns, as in core/chart/chrome_trace.h.
#pragma once

#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/simulate.h"

namespace heddle {

/// Per warp group a thread for its issue slots and threads for the units it uses.
/// Pre: the timeline's ops are the problem's.
std::string simulation_trace(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline);

}  // namespace heddle
