// What a question is about, whoever asks it: everything that requests to the solver are made of, beside the question's own options.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/instance/instance.h"
#include "core/instance/layout_decisions.h"
#include "core/library/source.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "solver/search/solve.h"

namespace heddle::app {

struct SearchLimits {
  double timeout_seconds = 60;  ///< for everything together
  std::uint64_t seed = 0;
  int max_stages = 6;  ///< what is refuted speaks of schedules of at most so many
};

struct Subject {
  Instance instance;
  Constraints constraints{};
  std::optional<Schedule> schedule{};   ///< the one that is looked at
  std::optional<Schedule> incumbent{};  ///< searches begin with it
  /// Values and ops whose layouts and instructions are left to the solver, or "all"; what the instance says of them stays.
  std::vector<std::string> left_open{};
  std::shared_ptr<const OpenLayouts> open{};  ///< what that is, where it has been worked out
  SourcePtr source{};                         ///< what the kernel is written in; null: in a file of ours
  SearchLimits limits{};

  const Problem& problem() const { return instance.problem(); }
  bool allows(SourceUse use) const { return !source || *source->why_not(use) == '\0'; }
};

/// The least II, and the objectives after it.
solver::SolveRequest solve_request(const Subject& subject);

/// The problem with these changes on top of its own.
Result<Problem> problem_with(const Subject& subject, const Changes& more);
/// The same, except that `choices` replaces its layouts and instructions.
Result<Problem> problem_with(const Subject& subject, const LayoutChoices& choices, const Changes& more = {});

/// What is left open.
Result<OpenLayouts> what_is_open(const Subject& subject);
/// The same where `said` replaces the layouts that the instance says, and `more` is added to its changes.
Result<OpenLayouts> open_again(const Subject& subject, const LayoutChoices& said, const Changes& more = {});

}  // namespace heddle::app
