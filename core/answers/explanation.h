// The answer to "why is II not smaller?": the constraints that cannot hold together, and what giving way on any one of them would
// buy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/id.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/kernel/kernel.h"
#include "core/layout/choices.h"
#include "core/motion/period_parts.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/certificate.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// One rule that takes part.
struct ExplanationMember {
  std::string family;  ///< the words of core/problem/problem.h; "recurrence" and "refill" for those bounds
  std::string what;    ///< one sentence with ops and numbers
  std::vector<OpId> ops;
  std::vector<std::pair<std::string, std::int64_t>> numbers;  ///< "capacity", "limit", "cycles" ...
  std::vector<std::string> parts;                             ///< the single constraints of the rule that are needed
  bool needed = false;                                        ///< shown: without this one the others can hold together
  std::string without;                                        ///< what then goes wrong with this rule in one such schedule; may be empty
  Cycle slot = -1;                                            ///< modulo II, where it goes wrong; -1: not tied to a slot
  std::vector<EdgeId> edges{};                                ///< dependences that are part of it
  std::optional<Space> memory{};                              ///< whose size it is
  UnitId unit{};                                              ///< whose capacity it is; invalid for other rules
  std::optional<std::size_t> constraint{};                    ///< the user's, by its place in the list
};

/// What one change alone would buy.
struct WayOut {
  std::size_t member = 0;      ///< which member of the core it eases
  std::string what, from, to;  ///< "capacity of TC", "1", "2"
  /// Optimal: `ii` is the least. Feasible: at most `ii`. Infeasible: still no schedule. Unknown: not decided in time.
  Status status = Status::Unknown;
  Cycle ii = 0;
  /// What holds II up afterwards, where arithmetic says it (a unit, a recurrence, a ring); or, where a dropped constraint is
  /// not enough for any schedule, what else stands in the way. May be empty.
  std::string then;
  double seconds = 0;
  /// The same step as something that can be put in force, so that solving again gives this result: numbers, or the user's
  /// constraint at this place with another limit, or none at all. Without either, no single number stands for the step.
  Changes changes{};
  std::optional<std::size_t> constraint{};
  std::optional<std::int64_t> limit{};  ///< of that constraint: its new `high`; none: it is dropped

  /// The same for a step that writes ops otherwise.
  LayoutChoices choices{};

  bool can_be_tried() const { return !changes.empty() || constraint.has_value() || !choices.empty(); }
};

struct Explanation {
  /// Optimal: `ii` is the least II, and `members` say why. Infeasible: there is no schedule at the II asked about, or at
  /// any. Feasible: there is a schedule, and nothing was refuted that could be explained. Unknown: out of time.
  Status status = Status::Unknown;
  std::optional<Cycle> ii;             ///< of the best schedule known
  std::optional<Schedule> schedule{};  ///< that one
  /// What the period of the schedule that is asked about, else of the best one known, consists of; none without contention.
  std::optional<motion::PeriodParts> period{};
  std::optional<Cycle> refuted;  ///< the II that is explained; none when no II at all has a schedule
  BoundReason reason = BoundReason::None;
  std::string sentence;
  /// The members contradict each other only together (a refutation); otherwise each alone forbids the II (arithmetic).
  bool together = false;
  std::vector<ExplanationMember> members;
  bool verified = false;                 ///< together: shown to be unsatisfiable alone and satisfiable without any one member
  std::vector<std::string> assumptions;  ///< what the refutation takes for granted: "at most 6 stages" ...
  std::vector<std::string> remarks;      ///< "the tightest cycle among them ..."
  std::vector<WayOut> ways_out;          ///< what buys most comes first
  std::size_t ways_out_left = 0;         ///< not tried for lack of time
  bool cancelled = false, timed_out = false;
  std::string solver;
  double seconds = 0;
  std::int64_t queries = 0, conflicts = 0;
};

// The answer to "why is II not smaller?" for people.

/// "II 1664, proved", "at most II 1700", "no gain" ...
std::string way_out_result(const Explanation& explanation, const WayOut& way);

/// Its II is known: proved to be the least, or to have no schedule.
bool decided(const WayOut& way);
/// "time is up: 2 of 7 changes are not decided, 1 was not tried"; empty: nothing was cut short.
std::string explanation_end(const Explanation& explanation);

/// What was shown about the reasons: "arithmetic, no search needed", "checked again from scratch: ...". Claims no more.
std::string explanation_standing(const Explanation& explanation);

/// The change was tried, and II stays: proved.
bool buys_nothing(const Explanation& explanation, const WayOut& way);

/// The sentence alone, on one line.
std::string explanation_headline(const Explanation& explanation);

std::string explanation_summary(const Problem& problem, const Explanation& explanation, const TextStyle& style);

// The answer to "why is II not smaller?" as JSON.

Json explanation_json(const Problem& problem, const Explanation& explanation);
Json explanation_schema();

}  // namespace heddle
