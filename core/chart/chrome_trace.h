// A run of a schedule as Chrome trace JSON, for Perfetto and chrome://tracing. 1 cycle is 1 ns (`ts` is in
// microseconds); true cycles are in `args`.
//
// One process; per warp group a thread for its issue slots and threads for every unit it uses. Slices of a thread never
// overlap: a unit whose ops overlap gets as many threads as are in flight at once. Asynchronous spans are b/e pairs
// with an id of their own; dependences are flows, left out above 2000.
#pragma once

#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/records/measurement.h"
#include "core/schedule/schedule.h"
#include "core/simulate/end_ops.h"
#include "core/simulate/simulate.h"

namespace heddle {

struct TraceOptions {
  int iterations = 8;
  const EndOps* ends = nullptr;  ///< the kernel's prologue and epilogue, once, before and after the iterations
  std::string whole_kernel{};    ///< what is predicted of the whole kernel, for the file's own facts; may be empty
};

/// Pre: the schedule has the problem's shape. The same input gives the same bytes.
std::string chrome_trace(const Problem& problem, const Schedule& schedule, const TraceOptions& options = {});

// A simulated run as Chrome trace JSON, for Perfetto and chrome://tracing. 1 cycle is 1 ns, as above.

/// Per warp group a thread for its issue slots and threads for the units it uses.
/// Pre: the timeline's ops are the problem's.
std::string simulation_trace(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline);

// A measured timeline as Chrome trace JSON, for Perfetto and chrome://tracing, with the prediction as a second process beneath
// it. 1 cycle is 1 ns, as above.

/// A thread per warp group, and one more where ops of a group overlap. The prediction repeats every `predicted_ii` cycles, from
/// the median starts and durations that the ops were predicted to have.
std::string measurement_trace(const Measurement& measurement);

}  // namespace heddle
