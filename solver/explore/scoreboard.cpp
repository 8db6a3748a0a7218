// Gathering contenders.
#include "solver/explore/scoreboard.h"

#include <utility>

#include "core/analysis/bounds.h"
#include "solver/clock.h"

namespace heddle::solver {
namespace {

Contender solver_contender(const SolveOutcome& outcome) {
  Contender c;
  c.name = "solver";
  c.kind = ContenderKind::Solver;
  c.about = "found by Heddle's solver: smallest II, then fewest stages, warps, least memory and registers";
  c.schedule = outcome.schedule;
  c.status = outcome.status;
  if (!c.schedule) c.why_not = outcome.explanation.empty() ? "none found in time" : outcome.explanation;
  return c;
}

class Board {
 public:
  Board(const ScoreboardRequest& request, std::stop_token stop, const ScoreboardListener& settled, const SolveListener& listener)
      : request_(request), stop_(std::move(stop)), settled_(settled), listener_(listener) {}

  Scoreboard make() {
    const Bounds bounds = compute_bounds(problem());
    board_.lower_bound = bounds.min_ii();
    board_.why = bounds.sentence;
    board_.solver = solver_version();
    for (const Contender& given : request_.given) add(given);
    if (request_.optimum && !stop_.stop_requested()) solve_it();
    board_.cancelled = board_.cancelled || stop_.stop_requested();
    board_.seconds = seconds_between(begin_, Clock::now());
    return std::move(board_);
  }

 private:
  const Problem& problem() const { return request_.solve.problem; }

  void add(Contender contender) {
    board_.contenders.push_back(measured(problem(), request_.solve.constraints, std::move(contender)));
    board_.seconds = seconds_between(begin_, Clock::now());
    if (settled_) settled_(board_);
  }

  void solve_it() {
    const SolveOutcome outcome = solve(request_.solve, stop_, listener_);
    // With demands in force the solver's bound holds for schedules that meet them, and for no others.
    if (outcome.lower_bound > board_.lower_bound && outcome.status != Status::Infeasible) {
      board_.lower_bound = outcome.lower_bound;
      board_.why = outcome.explanation;
    }
    board_.cancelled = outcome.cancelled;
    board_.timed_out = outcome.timed_out;
    add(solver_contender(outcome));
  }

  const ScoreboardRequest& request_;
  std::stop_token stop_;
  const ScoreboardListener& settled_;
  const SolveListener& listener_;
  const Clock::time_point begin_ = Clock::now();
  Scoreboard board_;
};

}  // namespace

Scoreboard make_scoreboard(const ScoreboardRequest& request, std::stop_token stop, const ScoreboardListener& settled, const SolveListener& listener) {
  return Board(request, std::move(stop), settled, listener).make();
}

}  // namespace heddle::solver
