#include "app/jobs/solve_job.h"

#include <utility>

namespace heddle::app {

SolveFunction built_in_solver() {
#ifdef HEDDLE_HAS_SOLVER
  return [](const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listener) {
    return solver::solve(request, std::move(stop), listener);
  };
#else
  return {};
#endif
}

std::string built_in_solver_name() {
#ifdef HEDDLE_HAS_SOLVER
  return solver::solver_version();
#else
  return "this build has no solver (configure with -DHEDDLE_SOLVER=ON)";
#endif
}

std::unique_ptr<SolveJob> start_solve(SolveFunction solve, solver::SolveRequest request, std::function<void()> wake) {
  return std::make_unique<SolveJob>(
      [solve = std::move(solve), request = std::move(request)](std::stop_token stop, const SolveJob::Push& push) {
        return JobEvent(solve(request, std::move(stop), [&](const solver::SolveEvent& event) { push(event); }));
      },
      [](std::string message) { return JobEvent(JobFailure{std::move(message)}); }, std::move(wake));
}

}  // namespace heddle::app
