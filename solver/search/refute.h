// A claim that no II is below some bound, tried with everything that costs no search: whoever finds a legal schedule below it has
// refuted the claim.
#pragma once

#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "solver/z3/backend.h"

namespace heddle::solver {

/// A schedule that the checker accepts, with an II below `bound`: one op after the other, ops placed one by one at bound - 1, or what
/// the relaxation finds there. `like`: a schedule to begin from. Nothing says nothing about the claim. Pre: `like` fits the problem.
std::optional<Schedule> schedule_below(const Problem& problem, const Constraints& constraints, const Schedule& like, Cycle bound,
                                       const QueryLimits& limits);

}  // namespace heddle::solver
