// What is laid over the bars of a chart besides the schedule itself: pins, differences, slack, what an answer points at.
#pragma once

#include <optional>
#include <vector>

#include "app/session/session.h"
#include "core/answer/slack_ranges.h"

namespace heddle::app {

struct ChartOverlay {
  std::vector<Note> notes;               ///< in the order of the document, whose indices EditNote takes
  std::vector<Cycle> flags;
  Highlight highlight;
  std::vector<OpId> pinned;              ///< start fixed by a constraint that is on
  std::vector<OpId> differing;           ///< start (modulo shifts), group or stage differs from what it is compared with
  std::optional<SlackRanges> slack;      ///< of the shown schedule; longest paths or exact
};

/// For the shown schedule; empty without one.
ChartOverlay build_overlay(const Session& session);

}  // namespace heddle::app
