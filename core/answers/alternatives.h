// The answer to "which other schedules are as good?".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/robustness.h"
#include "core/analysis/signature.h"
#include "core/answers/found_period.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"
#include "core/schedule/outcome.h"

namespace heddle {

/// A schedule whose signature no other one of the answer has.
struct Alternative {
  Schedule schedule;                     ///< passed the checker; groups numbered as in the first where possible
  int distance = 0;                      ///< signature_distance to the first
  int nearest = 0;                       ///< to the nearest of those found before; 0 for the first
  std::vector<std::string> differences;  ///< from the first, in words
  Cycle period = 0;                      ///< sustainable, rounded up
  Robustness robustness;
  PeriodSpread if_off;  ///< cycles per iteration as hardware runs it when numbers are off; 0 where that was not asked
  /// Of the rule of motion, cycles; none where it does not decide (core/simulate/forecast.h).
  std::optional<double> contended_period{};
};

/// A program of nearly the least period, whatever its II.
struct ProgramAlternative {
  Schedule schedule;                       ///< passed the checker, and stands for that program
  double period = 0;                       ///< cycles
  std::string from{};                      ///< whose order it is; empty: found by the search
  std::vector<std::string> differences{};  ///< from the first of them, in words
};
/// Programs that are so many percent longer than the least one are not given.
inline constexpr int kNearlyLeastPercent = 2;

struct Alternatives {
  SolveOutcome first;  ///< the search for the optimum; its schedule is the first alternative
  Aspect aspect = Aspect::Any;
  bool ii_only = false;   ///< equal II suffices; otherwise every objective is at most that of the first
  int stages = 0;         ///< what is said holds for schedules of at most this many stages
  int most_distance = 0;  ///< no two schedules can be farther apart
  std::vector<Alternative> found;
  std::vector<std::string> worth;              ///< what the most robust one does differently from the least robust one, in words
  std::optional<FoundPeriod> least_period{};   ///< where a period decides, and was asked for
  std::vector<ProgramAlternative> programs{};  ///< the least period first
  bool exact = false;                          ///< proved: there are exactly found.size()
  bool more = false;                           ///< one more was seen, beyond the count asked for
  bool cancelled = false, timed_out = false;
  std::int64_t queries = 0;
  double seconds = 0;  ///< altogether
  std::string fault;   ///< an internal error; empty when all is well
};

/// Indices of the found ones, the most robust first: least mean plus 95th percentile when numbers are off. In the order of finding where
/// that was not asked; those that deadlock last.
std::vector<std::size_t> by_robustness(const Alternatives& answer);

// Alternatives in words.

/// "exactly 3 schedules", "at least 10 schedules; there are more", "at least 4 schedules; time is up".
std::string alternatives_headline(const Alternatives& answer);

/// Headline, one row per schedule, and for each what it does differently from the first.
std::string alternatives_summary(const Problem& problem, const Alternatives& answer, const TextStyle& style);

// Alternatives as JSON for other programs: what `heddle alternatives --json` prints. Written only.

/// "count" is how many were found and "exact" whether it is proved that there are no others; "more" is true when one more
/// is known to exist. Delays that nothing limits are null.
Json alternatives_json(const Problem& problem, const Alternatives& answer);
Json alternatives_schema();

}  // namespace heddle
