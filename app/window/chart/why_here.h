// Why an op starts where it does: the constraints that touch it on either side, as something the chart can point at.
#pragma once

#include "app/session/commands.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// The sentence says what it cannot start before, what it cannot start after, and what the user demands of it; the ops are
/// itself and those, the dependences the ones without slack. Pre: the schedule fits the problem.
Highlight why_here(const Problem& problem, const Schedule& schedule, const Constraints& constraints, OpId op);

}  // namespace heddle::app
