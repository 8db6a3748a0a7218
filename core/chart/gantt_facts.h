// What the timeline knows beyond positions: which ops limit II, which break a rule, how full every resource is.
#pragma once

#include <vector>

#include "core/chart/gantt_model.h"

namespace heddle {

/// The unit an op is drawn on: the one it reserves longest. Memory and tensor-memory ports come last (an mma belongs on the
/// tensor core even where its operand port is busy for longer). Null when it reserves none.
const UnitUse* primary_use(const Problem& problem, const Op& op);

/// What the lane of a unit is called.
std::string unit_label(const Unit& unit);

/// Per op: does it take part in what limits II? That is the binding unit and the critical recurrence where they reach II,
/// and the limiting cycle of the sustainable period.
std::vector<bool> critical_ops(const Problem& problem, const Schedule& schedule);

/// Sets the critical and violating flags of bars and fills the resource lanes.
void add_facts(const Problem& problem, const Schedule& schedule, const GanttOptions& options, GanttModel& model);

}  // namespace heddle
