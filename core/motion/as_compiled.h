// What ptxas makes of a circle of steps: four habits of the compiler for sm_90a, seen in the machine code of measured kernels
// (NVRTC 13.0).
#pragma once

#include "core/motion/circle.h"

namespace heddle::motion {

/// 1. A wait for an mma of the group's own that stands behind arithmetic behind an issue comes where the wait before it is, behind the
///    arithmetic that follows that one.
/// 2. Arithmetic between two waits for mmas of the group's own, with nothing else between, runs behind the second; of a maximum only half.
/// 3. Arithmetic that follows an mma, be it behind the pass of its turn, runs among its instructions: behind each but the last as much as
///    takes 112 cycles alone, of each op its part; what is left stays where it is.
/// 4. Beside special functions of its own stretch arithmetic hides. What reads what they make keeps `contention.hidden` percent of its
/// time,
///    what makes what they read a quarter, and fewer special functions the time of their other instructions; what `exposed` says stays.
///    While one special function runs, a quarter of an SM issues eight other instructions: what has more of them hides under nothing.
/// Without `contention.reordered` the circles stay as they are.
std::vector<CircleStep> as_compiled(const Problem& problem, std::vector<CircleStep> circle);
GroupCircles as_compiled(const Problem& problem, GroupCircles circles);  ///< each of them

}  // namespace heddle::motion
