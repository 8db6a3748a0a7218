// A loop in the rule of motion (core/motion/motion.h), told as the simulator tells its runs.
#pragma once

#include "core/simulate/simulate.h"

namespace heddle {

/// Whether the rule of motion says more of a problem's loops than the simulation without contention: it was held against measured loops
/// of its kind. Two things have to hold. The machine says how many mmas are in flight; for Blackwell nobody has measured that. And only
/// loads move data: loops with other copies (attention backward, weights of 4 bits) were measured to take longer than the rule says. It
/// also knows nothing of CTAs that share an SM. This is the only place that decides it; where it holds, orders are compared by the period.
bool chooses_by_period(const Problem& problem);

/// simulate() with Arbitration::Contended. Its period is the rule's, rounded to whole cycles over its iterations. The rest is approximated:
/// the loop's begin and end take as long as the steady state, a circle for each stage but one; groups spend their time as in the steady
/// state; the timeline is the steady state's. Of jitter, turn costs and distances between groups nothing is known here.
Simulation run_contended(const Problem& problem, const Schedule& schedule, const SimulateOptions& options);

}  // namespace heddle
