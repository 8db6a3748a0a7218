// A schedule out of what the relaxation found.
#pragma once

#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "solver/relaxation/relaxation.h"

namespace heddle::solver {

/// Nothing where the answer has no starts and groups, or the checker objects.
std::optional<Schedule> schedule_from(const Problem& problem, const Constraints& constraints, Cycle ii, const RelaxationAnswer& found);

}  // namespace heddle::solver
