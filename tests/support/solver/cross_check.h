// A second encoder that answers the same question another way: absolute starts as plain integers, groups as integers, one
// disjunction per wrap-around, Z3's ordinary integer arithmetic. Slower, shares no formula with the main model, and so
// catches mistakes of meaning. For tests of small problems.
#pragma once

#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "solver/z3/backend.h"

namespace heddle::solver {

struct CrossCheck {
  Answer answer = Answer::Unknown;
  std::optional<Schedule> schedule;  ///< set when the answer is Yes
};

/// Is there a schedule at this II with all starts in [0, stages * II)?
CrossCheck cross_check(const Problem& problem, const Constraints& constraints, Cycle ii, int stages, double timeout_seconds);

}  // namespace heddle::solver
