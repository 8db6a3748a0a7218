// The answer to "what does this op's latency decide?": how far it may change before a schedule breaks, and the least II as
// a step function of it.
//
// Latency here is issue until the result is usable and nothing else: the op's unit uses and issue window stay. What resolve()
// derives from it follows: edges, and for an asynchronous op how long it holds its register operands and the slots it reads.
// Every one of these only forbids more as the latency grows, so a schedule for a latency is one for every smaller latency,
// and the least II never falls as the latency grows. Nor does it grow faster than the latency (core/analysis/stretch.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/bounds.h"
#include "core/analysis/slack.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"
#include "core/schedule/certificate.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// What is known about every latency of a stretch.
struct LatencyStep {
  Cycle low = 0, high = 0;  ///< latencies, both included
  Cycle lower_bound = 1;    ///< no latency here has a smaller II; kNoFiniteII: none has any schedule
  Cycle ii = kNoFiniteII;   ///< every latency here has a schedule with this II; kNoFiniteII: none is known
  Cycle rise = 0;           ///< 1: both are for `low` and grow by 1 with every cycle of latency
  std::string why;          ///< why II is not smaller, at `low`

  bool proved() const { return ii == lower_bound; }
  Cycle ii_at(Cycle latency) const { return rise == 0 ? ii : ii + rise * (latency - low); }
  Status status() const {
    if (lower_bound >= kNoFiniteII) return Status::Infeasible;
    return ii >= kNoFiniteII ? Status::Unknown : proved() ? Status::Optimal : Status::Feasible;
  }
};

/// Steps of equal width and height in one: II(latency) = ii + rise * floor((latency - low) / every).
struct LatencySegment {
  LatencyStep step;           ///< the first step, stretched over the whole segment
  Cycle rise = 0, every = 0;  ///< 0: II is the same everywhere
  Cycle last_ii() const { return rise == 0 ? step.ii : step.ii + rise * ((step.high - step.low) / every); }
};

/// Staircases of at least three steps become one segment. Pre: steps ascend without gaps.
std::vector<LatencySegment> segments_of(const std::vector<LatencyStep>& steps);

struct LatencyRange {
  std::string op;
  Cycle latency = 0;                 ///< at present
  Status status = Status::Unknown;   ///< of the present problem's II
  Cycle ii = 0, lower_bound = 0;     ///< of the schedule below, and of the present problem
  std::optional<Schedule> schedule;  ///< whose range is given; passed the checker
  bool given = false;                ///< it came from the user
  /// The checker accepts the schedule for latencies 0 to this, and not for one more; kUnlimited when there is no end.
  std::optional<Cycle> valid_to;
  /// The same with ring depths and register budgets chosen again; starts and groups stay.
  std::optional<Cycle> refitted_to;
  /// At least up to this latency the schedule's groups and order keep its II with other starts.
  std::optional<Cycle> retimed_to;
  std::string breaks;                               ///< what the checker objects to one cycle later; empty when nothing ever does
  Cycle from = 0, to = 0;                           ///< the latencies asked about
  std::vector<LatencyStep> steps;                   ///< ascending, without gaps, neighbours differ; empty when nothing is known yet
  std::string fault;                                ///< why there is no answer at all: what is wrong with the question
  std::int64_t latencies_settled = 0, queries = 0;  ///< looked at; of these with the solver
  double seconds = 0;
  bool cancelled = false, timed_out = false;

  bool complete() const;  ///< every step is proved and the range is known
};

// The answer about one op's latency in words and a table.

/// "valid for latencies 0 to 893 · II 2048 up to latency 893 · ...": one line.
std::string latency_headline(const LatencyRange& answer, const TextStyle& style);

std::string latency_summary(const Problem& problem, const LatencyRange& answer, const TextStyle& style);

// The answer about one op's latency as JSON: what `heddle latency` prints with --json. Written only.

/// Staircases are one member of "steps" each: II(latency) = ii + rise * floor((latency - from) / every). Ends that do not
/// exist, and numbers that are not known, are null.
Json latency_json(const Problem& problem, const LatencyRange& answer);
Json latency_schema();

}  // namespace heddle
