// One WarmSolver is kept as long as the problem stays the same. Its first solve asks the store (solve_store.h), and what comes of that is
// taught to it.
#include "app/jobs/warm_job.h"

#ifdef HEDDLE_HAS_SOLVER
#include <mutex>

#include "app/jobs/solve_store.h"
#include "solver/questions/fastest.h"
#include "solver/search/warm.h"
#endif

namespace heddle::app {

#ifdef HEDDLE_HAS_SOLVER
namespace {

class Memory {
 public:
  SolveOutcome solve(const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listener) {
    const std::lock_guard turn(mutex_);
    if (stop.stop_requested()) {
      SolveOutcome outcome;
      outcome.cancelled = true;
      return outcome;
    }
    if (request.ii || request.cutoff || request.uncertain) return solve_or_recall(store_, request, std::move(stop), listener);
    if (std::string hash = problem_hash(request.problem); !warm_ || hash != hash_ || request.max_stages != stages_) {
      warm_ = std::make_unique<solver::WarmSolver>(request);
      hash_ = std::move(hash);
      stages_ = request.max_stages;
      informed_ = false;
    }
    solver::SolveRequest proof = request;
    proof.by_time.reset();
    if (request.by_time) proof.timeout_seconds -= solver::seconds_for_choice(request);
    warm_->set_timeout(proof.timeout_seconds);
    if (!informed_ && !request.incumbent) {
      SolveOutcome outcome = solve_or_recall(store_, proof, stop, listener);
      warm_->learn(request.constraints, outcome);
      informed_ = outcome.schedule.has_value();
      if (request.by_time) choose_or_recall(store_, request, outcome, stop, listener);
      return outcome;
    }
    // What was found of this very question before, in this process or another.
    if (const std::optional<SolveOutcome> known = find_proof(store_, request, solver::solver_version())) {
      warm_->learn(request.constraints, *known);
      if (known->status != Status::Infeasible && listener) listener(solver::LogLine{so_far_text(*known)});
    }
    if (request.incumbent) {
      SolveOutcome known;  // one schedule and nothing else: nothing is claimed about any II
      known.schedule = request.incumbent;
      known.reason = BoundReason::Requested;
      warm_->learn(request.constraints, known);
    }
    SolveOutcome outcome = warm_->solve(request.constraints, stop, listener);
    keep_so_far(store_, request, outcome);
    informed_ |= outcome.schedule.has_value();
    if (request.by_time) choose_or_recall(store_, request, outcome, stop, listener);
    return outcome;
  }

 private:
  const ContentStore store_;
  std::mutex mutex_;
  std::string hash_;  // of the problem that is remembered
  int stages_ = 0;
  bool informed_ = false;
  std::unique_ptr<solver::WarmSolver> warm_;
};

}  // namespace

SolveFunction warm_solver() {
  return [memory = std::make_shared<Memory>()](const solver::SolveRequest& request, std::stop_token stop,
                                               const solver::SolveListener& listener) {
    return memory->solve(request, std::move(stop), listener);
  };
}

RecallFunction kept_proofs() {
  return [](const solver::SolveRequest& request) { return find_proof(ContentStore(), request, solver::solver_version()); };
}
#else
SolveFunction warm_solver() { return {}; }
RecallFunction kept_proofs() { return {}; }
#endif

}  // namespace heddle::app
