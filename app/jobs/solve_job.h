// One solve in the background. The solve function is given, so that tests use a fake one and a build without a solver has
// none.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>

#include "app/jobs/worker.h"
#include "core/schedule/outcome.h"
#include "solver/search/solve.h"

namespace heddle::app {

using SolveFunction = std::function<SolveOutcome(const solver::SolveRequest&, std::stop_token, const solver::SolveListener&)>;

/// The real solver, or an empty function in a build without one.
SolveFunction built_in_solver();
/// Its name and version ("Z3 4.15.4"); why there is none in a build without one.
std::string built_in_solver_name();

/// The worker failed inside; nothing is known about the problem.
struct JobFailure {
  std::string message;
};
/// The last event of a job is a SolveOutcome or a JobFailure.
using JobEvent = std::variant<solver::SolveEvent, SolveOutcome, JobFailure>;
using SolveJob = Worker<JobEvent>;

std::unique_ptr<SolveJob> start_solve(SolveFunction solve, solver::SolveRequest request, std::function<void()> wake);

}  // namespace heddle::app
