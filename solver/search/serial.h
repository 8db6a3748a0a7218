// One op after the other: the slowest sensible schedule. Its II bounds the search from above, and where it is legal it is a
// first answer that costs nothing.
#pragma once

#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::solver {

/// At this II everything fits one after the other, so what is infeasible here is infeasible at every II.
Cycle serial_ii(const Problem& problem);

/// All ops in dependence order in stage 0, everything but loads in one group. Not judged: one group may have too few
/// registers, or the user may want something else. Pre: ii >= serial_ii(problem).
Schedule serial_schedule(const Problem& problem, const Constraints& constraints, Cycle ii);

/// The same at `ii`, or at the least II that it needs, if the checker accepts it. Cheap: the answer where there is no other.
std::optional<Schedule> legal_serial(const Problem& problem, const Constraints& constraints, std::optional<Cycle> ii = {});

}  // namespace heddle::solver
