// How far ops can move at one II: longest paths at once, exact ends by bisection on one live model.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "core/answers/slack.h"
#include "core/schedule/constraints.h"

namespace heddle::solver {

struct SlackRequest {
  Problem problem;
  Constraints constraints;
  Schedule schedule;      ///< gives II, the anchor's start, and what `alone` is about
  OpId anchor;            ///< invalid: the op that starts first
  std::vector<OpId> ops;  ///< empty: all
  bool exact = false;
  int max_stages = 6;         ///< as in SolveRequest; a schedule with more stages raises it
  std::optional<int> stages;  ///< exactly this many stage numbers instead
  double timeout_seconds = 60;
  std::uint64_t seed = 0;
};

/// Called for every op whose ends are settled, or given up: `done` of `count` so far.
using SlackListener = std::function<void(const OpRange& range, std::size_t done, std::size_t count)>;

/// Pre: the schedule's form is sound (one placement per op, groups that exist).
SlackRanges slack_ranges(const SlackRequest& request, std::stop_token stop = {}, const SlackListener& listener = {});

}  // namespace heddle::solver
