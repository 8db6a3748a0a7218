// What the timeline knows beyond positions: which ops limit II, which break a rule, how full every resource is.
#pragma once

#include <string>
#include <vector>

#include "core/chart/gantt_model.h"
#include "core/layout/plan.h"

namespace heddle {

/// The unit an op is drawn on: the one it reserves longest. Memory and tensor-memory ports come last (an mma belongs on the
/// tensor core even where its operand port is busy for longer). Null when it reserves none.
const UnitUse* primary_use(const Problem& problem, const Op& op);

/// How the op meets shared memory, and in which instruction; null where it does not, or nothing is known of layouts.
const OpPlan* shared_memory_plan(const Problem& problem, OpId op);
/// Different words that its lanes want of one bank in one phase, at most; 1: no lanes meet.
int conflict_ways(const Problem& problem, OpId op);
/// "x2" for 2; empty for 1.
std::string conflict_mark(int ways);
/// "st.shared.8: 256 cycles of the port, 128 without conflicts, 2-way"
std::string access_words(const std::string& instruction, const AccessCost& cost);
/// The same of an op; empty where there is nothing to say.
std::string access_words(const Problem& problem, OpId op);

/// What the lane of a unit is called.
std::string unit_label(const Unit& unit);

/// Per op: does it take part in what limits II? That is the binding unit and the critical recurrence where they reach II,
/// and the limiting cycle of the sustainable period.
std::vector<bool> critical_ops(const Problem& problem, const Schedule& schedule);

/// Sets the critical and violating flags of bars and fills the resource lanes.
void add_facts(const Problem& problem, const Schedule& schedule, const GanttOptions& options, GanttModel& model);

}  // namespace heddle
