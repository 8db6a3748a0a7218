// Runs a loop graph step by step: longest paths with the schedule's order on streams and units (max-plus recursion).
#pragma once

#include "core/simulate/simulate.h"

namespace heddle {

/// simulate() with Arbitration::Scheduled.
Simulation run_scheduled(const Problem& problem, const Schedule& schedule, const SimulateOptions& options);

}  // namespace heddle
