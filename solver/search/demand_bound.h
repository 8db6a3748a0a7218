// What user constraints do to II by arithmetic alone: pins, ranges, orders and caps on stages are start differences like
// dependences, so the maximum cycle ratio of all of them together bounds II, or shows that no II is large enough.
#pragma once

#include <string>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"

namespace heddle::solver {

struct DemandBound {
  Cycle bound = 0;       ///< no schedule has a smaller II; kNoFiniteII (core/analysis/bounds.h): there is none at all
  std::string sentence;  ///< the cycle that says so
};

/// Bound 0 when no constraint takes part. Pre: constraint_faults (encoding/user.h) finds nothing.
DemandBound demand_bound(const Problem& problem, const Constraints& constraints);

}  // namespace heddle::solver
