// The answer to "which configuration is best?" as it grows: sessions, evaluations in the order in which they were made, the best so far.
//
// The value of a configuration is what its whole problem costs, so that configurations with other tiles can be compared:
//   cycles        predicted cycles of the kernel on the whole machine, from the first CTA's start to the last one's end: waves, tiles that
//                 stick out over the edge, filling, draining and CTAs that share an SM count (core/simulate/kernel_run.h)
//   steady        the same without all that: II times all iterations of the grid, divided by the number of SMs
//   microseconds  measured on a GPU
// Smaller is better. The problem's own sizes are the same for all configurations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/subtile.h"
#include "core/schedule/outcome.h"
#include "core/tuning_space/space.h"

namespace heddle {

enum class TuneObjective { Cycles, Steady, Microseconds };
const char* to_string(TuneObjective objective);

/// How a configuration is judged, from cheap to dear. Up to Heuristic's schedule nothing is proved but the bound.
enum class Fidelity {
  Bound,      ///< no schedule: what the kernel takes at least
  Heuristic,  ///< a schedule placed without Z3, at the II that it states
  Evaluator,  ///< the same schedule at the period that it sustains
  Simulator,  ///< the same schedule on the whole grid
  Solver,     ///< the solver's schedule, proved, on the whole grid
  Gpu,        ///< that schedule written, compiled, verified and timed
};
const char* to_string(Fidelity fidelity);  ///< "bound", "heuristic", "evaluator", "simulator", "solver", "gpu"

enum class TuneMethod { Baco, Random, Bandit, Exhaustive };
const char* to_string(TuneMethod method);

enum class TuneStatus {
  Optimal,     ///< the value is of a schedule proved best
  Feasible,    ///< the value is of a schedule that is not proved best: the true one lies from `bound` to `value`
  Unknown,     ///< no schedule in time; the value is at least `bound`
  Pruned,      ///< proved not to beat the best; no value
  Infeasible,  ///< no schedule exists
  Refused,     ///< it cannot be written, does not compile clean, or computes something else
  Invalid,     ///< our own fault
};
const char* to_string(TuneStatus status);

struct TuneEvaluation {
  std::int64_t number = 0;  ///< 1, 2, 3 ... over all sessions
  std::string by;           ///< "default", "sample", "model", "random", "bandit", "exhaustive"
  Config config;
  std::string label;
  Fidelity fidelity = Fidelity::Bound;  ///< the rung reached
  TuneStatus status = TuneStatus::Unknown;
  std::optional<double> value, bound;  ///< of the objective
  std::optional<Cycle> ii, min_ii, lower_bound_ii;
  std::optional<double> period;
  std::optional<std::int64_t> trips, tiles, ctas, stages, groups, warps, smem, registers;
  std::optional<double> tflops, of_peak;
  std::string why;
  double seconds = 0;
  bool cached = false;
  std::optional<double> best;  ///< so far, this one included
  std::int64_t best_number = 0;
  std::optional<std::int64_t> excluded, open;  ///< configurations proved unable to win; neither evaluated nor excluded
  std::string schedule;                        ///< heddle.schedule/1 text, or empty
  Scope params;
  std::vector<Subtile> subtiles;
  std::vector<std::string> demands;
  std::string solve;      ///< the command that solves it alone
  std::string problem;    ///< problem_hash() of what it is about; empty: not said
  std::int64_t line = 0;  ///< of the file it was read from, 1 upwards; 0: this process made it
};

struct TuneSession {
  std::string kernel, machine;   ///< as they were typed
  bool machine_changed = false;  ///< some of its numbers were
  Scope params;
  TuneObjective objective = TuneObjective::Cycles;
  Fidelity fidelity = Fidelity::Solver;
  TuneMethod method = TuneMethod::Baco;
  std::uint64_t seed = 0;
  std::int64_t budget = 0;
  SearchSpace space;
  std::optional<std::int64_t> configurations, known_feasible;
  std::optional<double> lower_bound;  ///< proved for every configuration
  std::string subject;                ///< what decides values, as a digest
  std::string solver, command;
  std::int64_t line = 0;  ///< as of an evaluation
};

struct TuneEnd {
  std::string reason;  ///< "budget", "complete", "cancelled", "time", "nothing feasible"
  std::int64_t evaluations = 0;
  std::optional<double> best;
  std::int64_t best_number = 0;
  bool proved = false;  ///< no other configuration of the space can be better, at this fidelity
  double seconds = 0;
  bool rests_on_file = false;  ///< the proof does, on lines that this process only read: "the file says"
};

struct TuneHistory {
  std::vector<TuneSession> sessions;
  std::vector<TuneEvaluation> evaluations;
  std::optional<TuneEnd> end;  ///< of the last session; absent when it was killed

  /// Null when nothing has a value.
  const TuneEvaluation* best() const;
};

/// What in an evaluation contradicts itself: a value below its own bound, optimal above it. Empty: nothing.
std::string contradiction_in(const TuneEvaluation& evaluation);
/// Takes out every evaluation that contradicts itself, its session or another evaluation (of
/// two answers to one question that exclude each other the refuted one, and both where each is called optimal), and makes what follows from
/// the others again: the best so far, the end. What was taken out, with the line of `file` and why.
std::vector<Fault> set_aside_contradictions(TuneHistory& history, const std::string& file);
/// Makes `best` of each evaluation again, and forgets what was excluded: after some were taken out.
void restate_best(TuneHistory& history);

/// "cycles" or "us".
const char* unit_of(TuneObjective objective);

}  // namespace heddle
