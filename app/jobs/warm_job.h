// A solver with a memory, as a solve function: what earlier solves of the same problem proved and found is used by the
// next one, so that a dragged bar gets its schedule at once (solver/search/warm.h). The memory is that of one problem; another
// problem empties it.
#pragma once

#include <functional>
#include <optional>

#include "app/jobs/solve_job.h"

namespace heddle::app {

/// The first solve of a problem that comes without a schedule to start from is solver::solve() itself; later ones are warm.
/// Calls from several threads take turns: a cancelled one gives way within 100 ms. Empty in a build without a solver.
SolveFunction warm_solver();

/// What earlier searches have found of a question, without one; nothing where none is kept. Takes milliseconds.
using RecallFunction = std::function<std::optional<SolveOutcome>(const solver::SolveRequest&)>;
/// From the store. Empty in a build without a solver.
RecallFunction kept_proofs();

}  // namespace heddle::app
