// The schedules that people use beside the optimum: put to the solver, and told.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/ending.h"
#include "core/answers/scoreboard.h"
#include "core/base/result.h"

namespace heddle::app {

struct CompareOptions {
  bool optimum = true;                                   ///< the solver's own takes part
  std::optional<Cycle> ii{};                             ///< that one of exactly this II
  bool least_ii = false;                                 ///< its first of least II, not the order that is predicted to be fastest
  std::optional<std::vector<std::string>> heuristics{};  ///< "tawa", "tawa:D=4,P=1"; none: all, with their defaults
  ClockChoice clock{};                                   ///< that simulated times assume
  ScoreColumn sorted{};                                  ///< what its tables are sorted by
};

/// The shipped schedules of the subject's kernel, and those of `listed` that are other programs.
std::vector<Contender> contenders_with(const Subject& subject, std::vector<Contender> listed);

/// `given`: schedules that take part, besides heuristics' and the solver's own. Faults: of options.heuristics.
Result<Scoreboard> ask_compare(const Subject& subject, const CompareOptions& options, std::vector<Contender> given, std::stop_token stop,
                               const Listener<Scoreboard>& listener);
/// What is wrong with options.heuristics.
Result<Ok> check_heuristics(const CompareOptions& options);
Ended ended(const Scoreboard& board);

}  // namespace heddle::app
