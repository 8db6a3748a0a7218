// A simulated run as a timeline: the bars that the window, SVG and PNG draw, at the times of the simulation.
#pragma once

#include <vector>

#include "core/chart/gantt_model.h"
#include "core/simulate/simulate.h"

namespace heddle {

/// Rows and groups as in the schedule's own timeline; no resource lanes. A mark stands where each iteration begins.
/// Pre: the timeline's ops are the problem's.
GanttModel build_run_gantt(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline);

}  // namespace heddle
