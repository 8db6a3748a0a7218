// Where an evaluation gets its schedule from: placement without Z3, or the solver; and what becomes of a schedule that is to be a kernel.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "app/tune/kernel_evaluator.h"
#include "codegen/program/build.h"
#include "solver/questions/fastest.h"

namespace heddle::app {

/// The first schedule that placing ops one by one finds, from the least II upwards; or one op after the other. Nothing when neither is
/// legal.
std::optional<Schedule> placed_schedule(const Candidate& candidate, Cycle min_ii, const std::stop_token& stop);

struct WrittenSchedule {
  SolveOutcome outcome;  ///< of the last question
  bool cached = false;
  std::string refusal;  ///< why the schedule cannot be written or does not compile clean; empty when it can, or when that was not asked
  Constraints demands;  ///< that were added to make it possible
  codegen::BuildOptions build;  ///< with the cuts of loops that compile clean, where that was demanded
};

/// Asks the solver, and again with what the code generator demands, until the schedule meets options.demand. `by_time`: what decides
/// between orders; null: II alone.
WrittenSchedule solved_schedule(const Candidate& candidate, const EvaluatorOptions& options, std::optional<Cycle> cutoff,
                                std::shared_ptr<solver::TimeChoice> by_time, const std::stop_token& stop);

/// Microseconds per launch on this machine's GPU; an error sentence where there are none. `wrong`: it ran, and computed something else.
struct MeasuredCandidate {
  std::optional<double> microseconds;
  std::string sentence;
  bool wrong = false;
};
MeasuredCandidate measured(const Candidate& candidate, const Schedule& schedule, const codegen::BuildOptions& build,
                           const std::stop_token& stop);

}  // namespace heddle::app
