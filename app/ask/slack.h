// How far every op can move at one II: put to the solver, and told.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/ending.h"
#include "core/answers/slack.h"

namespace heddle::app {

struct SlackOptions {
  bool exact = true;        ///< not only longest paths
  OpId anchor{};            ///< stands still; invalid: the op that starts first
  std::vector<OpId> ops{};  ///< empty: all
  bool operator==(const SlackOptions&) const = default;
};

/// Pre: the subject has a schedule; ranges are at its II.
SlackRanges ask_slack(const Subject& subject, const SlackOptions& options, std::stop_token stop, const Listener<SlackRanges>& listener);
Ended ended(const SlackRanges& ranges);
std::string told(const Subject& subject, const SlackRanges& ranges, const Telling& how);

}  // namespace heddle::app
