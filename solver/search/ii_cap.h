// A cap on II ("II <= 3") asks whether the least II is below it.
#pragma once

#include <functional>

#include "core/schedule/constraints.h"
#include "solver/search/solve.h"

namespace heddle::solver {

/// The least upper end that the constraints set to II; null: they set none.
const UserConstraint* cap_on_ii(const Constraints& constraints);

/// A search of a request whose constraints set no upper end to II.
using OpenSearch = std::function<SolveOutcome(const SolveRequest& request, const SolveListener& listener)>;

/// The search goes without the cap, which would keep it from reasoning from one II to the next, until its lower bound is above the
/// cap; schedules above it are not told. Infeasible where the least II is above the cap.
SolveOutcome solve_under_cap(const UserConstraint& cap, SolveRequest request, const SolveListener& listener, const OpenSearch& search);

}  // namespace heddle::solver
