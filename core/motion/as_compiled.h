// What ptxas makes of a circle of steps: three habits of the compiler for sm_90a, seen in the machine code of measured kernels
// (NVRTC 13.0).
#pragma once

#include "core/motion/circle.h"

namespace heddle::motion {

/// 1. Arithmetic between two waits for mmas of the group's own, with nothing else between, runs behind the second; of a maximum only half.
/// 2. Arithmetic between two mmas of one turn runs behind the first instruction of the first.
/// 3. Arithmetic in one stretch with special functions hides under them and keeps `contention.hidden` percent of its own time; what they
///    read keeps a quarter.
/// Without `contention.reordered` the circles stay as they are.
Circles as_compiled(const Problem& problem, Circles circles);

}  // namespace heddle::motion
