// Solving one problem again and again under changing user constraints: what a dragged bar in the window asks for.
//
// It keeps what is proved. The bounds and schedules of earlier answers are looked through first (search/knowledge.h), schedules
// are shifted, pushed and renumbered to meet the new demands (search/adapt.h), and only then a query goes to a model that is
// alive at that II already, where every constraint hangs on a literal that is assumed or not. If II must rise, solve() searches
// above the proved bound, and its II gets a live model too.
//
// The answer has the II, the status and the objective values that solve() has for the same request; the schedule may be
// another one of equal worth, usually closer to the one before. One thread at a time.
#pragma once

#include <memory>

#include "solver/search/solve.h"

namespace heddle::solver {

class WarmSolver {
 public:
  /// Problem, objectives, seed, stages and time limit (of each solve) are those of the request; the rest of it is ignored.
  explicit WarmSolver(SolveRequest base);
  ~WarmSolver();
  WarmSolver(const WarmSolver&) = delete;
  WarmSolver& operator=(const WarmSolver&) = delete;

  /// Never throws; a stop request takes effect within 100 ms, and what was proved until then is kept.
  SolveOutcome solve(const Constraints& constraints, std::stop_token stop = {}, const SolveListener& listener = {});
  /// Takes over what a solve() of the same request with these constraints answered.
  void learn(const Constraints& constraints, const SolveOutcome& outcome);
  void set_timeout(double seconds);
  const Problem& problem() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::solver
