// The answer of `heddle solve --within N%` where latencies are not always the same: the least shared memory with which the expected period
// is, for certain, within N percent of the least II.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/least_depths.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/outcome.h"

namespace heddle {

/// One of the listed latencies: what was solved for it, and how deep its rings have to be.
struct WithinStep {
  Changes at;                 ///< the choice, one per op
  std::string scheduled_for;  ///< in cycles: "270", "270 and 300"
  Status status = Status::Unknown;
  std::optional<Cycle> ii;
  std::int64_t bytes = 0;  ///< shared memory of the schedule as solved
  LeastDepths least;
  bool fits = false;  ///< found, in the shared memory that a CTA may use
};

struct WithinAnswer {
  int percent = 0;
  Cycle least_ii = 0;     ///< proved: no schedule has a smaller II, at any of the listed latencies
  ExactCycles limit;      ///< of the upper end: percent above it
  std::int64_t room = 0;  ///< bytes of shared memory that a CTA may use
  std::vector<WithinStep> steps;
  std::optional<std::size_t> best;  ///< the step that takes the least memory
  Problem problem;                  ///< of the best; of the first where there is none
  SolveOutcome outcome;             ///< the same; its schedule has the least depths
  bool ended = true;                ///< every step was solved and searched to its end
};

/// What was solved for each latency, what was chosen, and what that proves.
std::string within_summary(const WithinAnswer& answer, const TextStyle& style);
Json within_json(const WithinAnswer& answer);
Json within_schema(Json& definitions);

}  // namespace heddle
