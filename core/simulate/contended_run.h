// A loop in the rule of motion (core/motion/motion.h), told as the simulator tells its runs.
#pragma once

#include "core/simulate/simulate.h"

namespace heddle {

/// simulate() with Arbitration::Contended. Its period is the rule's, rounded to whole cycles over its iterations. The rest is approximated:
/// the loop's begin and end take as long as the steady state, a circle for each stage but one; groups spend their time as in the steady
/// state; the timeline is the steady state's. Of jitter, turn costs and distances between groups nothing is known here.
Simulation run_contended(const Problem& problem, const Schedule& schedule, const SimulateOptions& options);

}  // namespace heddle
