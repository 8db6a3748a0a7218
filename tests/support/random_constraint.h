// Random user constraints for random problems, and random edits of a set of them.
#pragma once

#include <optional>
#include <random>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"

namespace heddle::test {

/// Nothing when what was drawn makes no sense for the problem. Absolute cycles lie in the first two windows of length `ii`.
std::optional<UserConstraint> random_constraint(const Problem& problem, Cycle ii, std::mt19937& random);

/// Adds, removes, switches or changes one constraint.
void random_edit(const Problem& problem, Cycle ii, Constraints& constraints, std::mt19937& random);

}  // namespace heddle::test
