// Solve functions for tests of the session and the window: one that knows the toy's answer, one that works until
// cancelled.
#pragma once

#include <chrono>
#include <thread>

#include "app/jobs/solve_job.h"
#include "tests/support/small_problem.h"

namespace heddle::test {

/// A legal schedule of kernels/toy_fig1.json on the toy machine: II 2 if `best`, else II 3.
inline Schedule toy_schedule(const Problem& problem, bool best) {
  Schedule schedule = best ? place(problem, 2, {{0, 0}, {1, 0}, {3, 0}}) : place(problem, 3, {{0, 0}, {1, 0}, {2, 0}});
  derive_groups(problem, schedule);
  schedule.kernel = problem.kernel;
  schedule.machine = problem.machine;
  schedule.params = problem.params;
  return schedule;
}

/// Finds II 3, then proves II 2. Other problems are "unknown".
inline SolveOutcome solve_toy(const solver::SolveRequest& request, std::stop_token, const solver::SolveListener& listener) {
  SolveOutcome outcome;
  outcome.solver = "fake";
  outcome.seconds.total = 0.25;
  listener(solver::Started{2, 1, 1, "TC: S + O need 2 cycles"});
  if (request.problem.ops.size() != 3) return outcome;
  listener(solver::Progress{"deciding II", 2, 1, 10, 0.1});
  listener(solver::Incumbent{toy_schedule(request.problem, false)});
  listener(solver::Incumbent{toy_schedule(request.problem, true)});
  listener(solver::ObjectiveSettled{{"stages", 2, true}});
  listener(solver::LogLine{"a line"});
  outcome.status = Status::Optimal;
  outcome.schedule = toy_schedule(request.problem, true);
  outcome.lower_bound = outcome.res_mii = 2;
  outcome.reason = BoundReason::Resource;
  outcome.explanation = "TC: S + O need 2 cycles";
  outcome.objectives = {{"ii", 2, true}, {"stages", 2, true}};
  return outcome;
}

/// Shows II 3 and goes on until it is told to stop.
inline SolveOutcome solve_until_cancelled(const solver::SolveRequest& request, std::stop_token stop,
                                          const solver::SolveListener& listener) {
  listener(solver::Started{2, 1, 1, "TC"});
  if (request.problem.ops.size() == 3) listener(solver::Incumbent{toy_schedule(request.problem, false)});
  while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  SolveOutcome outcome;
  outcome.status = Status::Feasible;
  outcome.lower_bound = 2;
  outcome.cancelled = true;
  if (request.problem.ops.size() == 3) outcome.schedule = toy_schedule(request.problem, false);
  return outcome;
}

}  // namespace heddle::test
