// How far every op can move: alone, by longest paths, and exactly over all legal schedules at one II.
//
// A schedule can be shifted as a whole, so "how early" needs something that stands still: one op, the anchor, keeps its start,
// and all cycles here are those of the schedule that was asked about. A negative earliest start means before that schedule's
// cycle 0. When user constraints fix cycles or stages, nothing can be shifted, and no start is negative.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/slack.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// One end of an op's range.
struct RangeEnd {
  Cycle bound = 0;            ///< proved: in no legal schedule does the op start beyond this
  std::optional<Cycle> seen;  ///< the furthest start in a legal schedule that was found
  bool proved() const { return seen == bound; }
};

struct OpRange {
  OpId op;
  Cycle start = 0;
  Slack alone;                               ///< all other ops fixed, the order of everything kept
  Cycle path_earliest = 0, path_latest = 0;  ///< longest paths of dependences, refills and the span of all stages
  RangeEnd earliest, latest;                 ///< without an exact answer their bounds are the longest paths
  /// By how many cycles the op may take longer before the period does (core/motion/period_slack.h); kUnlimited: by more than the whole
  /// period. None: not asked, or no period decides.
  std::optional<Cycle> growth{};
  bool settled() const { return earliest.proved() && latest.proved(); }
};

struct SlackRanges {
  Cycle ii = 0;
  OpId anchor;
  int stages = 0;                  ///< the ranges are over all legal schedules of at most that many stages, counted from the anchor's slot
  bool absolute = false;           ///< constraints fix cycles or stages: no start is below 0
  bool legal = false;              ///< the schedule asked about passed the checker
  bool exact = false;              ///< exact ranges were asked for
  std::optional<double> period{};  ///< of the schedule asked about, in the rule of motion, where it decides
  std::vector<OpRange> ops;        ///< those asked for
  bool cancelled = false, timed_out = false;
  std::string fault;  ///< why there is no exact answer; empty when nothing went wrong
  std::string solver;
  double seconds = 0;
  std::int64_t queries = 0, conflicts = 0;
  /// Every range asked for is known exactly.
  bool complete() const {
    for (const OpRange& range : ops)
      if (!range.settled()) return false;
    return true;
  }
};

// How far ops can move, in words and a table.

std::string slack_summary(const Problem& problem, const Schedule& schedule, const SlackRanges& ranges, const TextStyle& style);

// How far ops can move, as JSON. Written only.

/// {ii, anchor {op, start}, stages, absolute, legal, exact, complete, ops [{id, group, start, alone {earlier, later}, path
/// {earliest, latest}, earliest {seen, bound, proved}, latest {...}}], ...}; null where nothing holds an op or nothing was seen.
Json slack_json(const Problem& problem, const Schedule& schedule, const SlackRanges& ranges);
Json slack_schema();

}  // namespace heddle
