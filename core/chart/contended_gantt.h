// The timeline of the program's own periodic run in the rule of motion (core/motion/motion.h): build_gantt() with GanttMode::Contended.
#pragma once

#include "core/chart/gantt_model.h"

namespace heddle {

/// Rows, colours and flags are those of the other views; behind each group's rows comes one of its pauses. Ops and iterations are those of
/// the periodic run, cut off at both ends of the picture; iteration 0 is the oldest that begins
/// anything in the first period. Pre: as for build_gantt().
GanttModel build_contended_gantt(const Problem& problem, const Schedule& schedule, const GanttOptions& options);

/// A simulated run at its own times. Rows and groups as in the schedule's own timeline; no resource lanes. A mark stands where each
/// iteration begins.
/// Pre: the timeline's ops are the problem's.
GanttModel build_run_gantt(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline);

}  // namespace heddle
