// Runs a loop graph step by step: longest paths with the schedule's order on streams and units (max-plus recursion).
#pragma once

#include "core/simulate/simulate.h"

namespace heddle {

/// simulate() with Arbitration::Scheduled.
Simulation run_scheduled(const Problem& problem, const Schedule& schedule, const SimulateOptions& options);

/// A part of a run goes on for `trips` iterations at the rate of its period: issue windows are certain, the rest of a group's time
/// is split as it was.
void extrapolate(const Problem& problem, const Schedule& schedule, std::int64_t trips, Simulation& part);

}  // namespace heddle
