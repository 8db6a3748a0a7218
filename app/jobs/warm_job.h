// A solver with a memory, as a solve function: what earlier solves of the same problem proved and found is used by the
// next one, so that a dragged bar gets its schedule at once (solver/search/warm.h). The memory is that of one problem; another
// problem empties it.
#pragma once

#include "app/jobs/solve_job.h"

namespace heddle::app {

/// The first solve of a problem that comes without a schedule to start from is solver::solve() itself; later ones are warm.
/// Calls from several threads take turns: a cancelled one gives way within 100 ms. Empty in a build without a solver.
SolveFunction warm_solver();

}  // namespace heddle::app
