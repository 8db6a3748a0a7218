// Kernels as what a tuner searches: a configuration becomes a candidate (core/tuning_space/candidate.h), climbs the ladder of fidelities as
// far as asked for, and comes back as a line of the history.
//
//   bound       what the kernel takes at least: always, it prunes with proof
//   heuristic   placement without Z3, valued at its II      evaluator   ... at the period that it sustains
//   simulator   ... run on the whole grid                   solver      the solver's schedule, run on the whole grid
//   gpu         that schedule as a kernel: written, compiled, verified, timed
//
// A rung above `bound` may demand that the schedule can be written, or compiles clean; what cannot is refused, and the tuner learns to
// avoid it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/records/tuning.h"
#include "core/simulate/simulate.h"
#include "core/tuning_space/candidate.h"
#include "solver/questions/fastest.h"
#include "solver/tune/tune.h"

namespace heddle::app {

/// What must hold of a schedule besides being legal.
enum class Demand { Nothing, Written, Compiled };

/// Where solved problems may come from: the solver itself, or a store that remembers. `cached` says which it was.
using StoredSolve = std::function<SolveOutcome(const solver::SolveRequest&, const std::stop_token&, bool& cached)>;

struct EvaluatorOptions {
  TuneObjective objective = TuneObjective::Cycles;
  Fidelity fidelity = Fidelity::Solver;
  Demand demand = Demand::Nothing;
  Arbitration arbitration = Arbitration::Scheduled;
  double solve_seconds = 10;              ///< for one configuration
  std::uint64_t seed = 0;                 ///< of the solver
  std::string kernel_name, machine_name;  ///< as typed, for the command that solves a configuration alone
  std::string more_words;                 ///< of that command: --set and the like, with a space in front
  StoredSolve solve;                      ///< empty: the solver itself
};

class KernelEvaluator {
 public:
  KernelEvaluator(InstanceSpec subject, SearchSpace space, EvaluatorOptions options);

  solver::TuneFacts known(const Config& config) const;
  TuneEvaluation evaluate(const Config& config, std::optional<double> beat, const std::stop_token& stop) const;
  /// The value at the simulator's rung, of a schedule placed without Z3; nothing where none is found.
  std::optional<double> screen(const Config& config, const std::stop_token& stop) const;

  /// Other caps on stages and groups that the schedule of a proved evaluation keeps too, no looser than its own: its answer is theirs.
  std::vector<Config> same_answer(const TuneEvaluation& evaluation) const;

  /// What speaks against an evaluation that was only read: of another problem, below what arithmetic proves, a schedule that is none,
  /// breaks a rule or has another II. Empty: nothing. Cheap.
  std::string doubt(const TuneEvaluation& evaluation) const;
  /// What the schedule of an evaluation takes, by this process; nothing where it has none, or where only a GPU knows.
  std::optional<double> replayed(const TuneEvaluation& evaluation) const;

  /// A digest of everything that decides values: kernel, machine, parameters, changes, objective and options.
  std::string subject_digest() const;

 private:
  /// Fills what follows from a schedule, its value included, but for GPUs.
  void take(const Candidate& candidate, const Schedule& schedule, TuneEvaluation& e, const std::stop_token& stop = {}) const;

  KernelRunOptions run_of(const Candidate& candidate, const std::stop_token& stop) const;
  /// The solver's orders and others are compared by what the tuner values. Lives no longer than the candidate.
  std::shared_ptr<solver::TimeChoice> by_value(const Candidate& candidate) const;

  InstanceSpec subject_;
  SearchSpace space_;
  EvaluatorOptions options_;
};

}  // namespace heddle::app
