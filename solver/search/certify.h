// The certificate of a search that has ended.
#pragma once

#include "core/problem/problem.h"
#include "core/schedule/outcome.h"

namespace heddle::solver {

/// Writes what the outcome says into its schedule's certificate. Pre: there is a schedule, and the checker accepted it.
void certify(const Problem& problem, SolveOutcome& outcome);

}  // namespace heddle::solver
