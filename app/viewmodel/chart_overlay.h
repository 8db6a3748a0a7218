// What is laid over the bars of a chart besides the schedule itself: pins, differences, slack, what an answer points at.
#pragma once

#include <optional>
#include <vector>

#include "app/session/session.h"
#include "core/answer/slack_ranges.h"

namespace heddle::app {

/// Where a constraint wants an op to be.
struct ProposedPlace {
  OpId op;
  Cycle start = 0;               ///< in cycles of the schedule on the chart
  std::optional<GroupId> group;  ///< other than its present one
};

struct ChartOverlay {
  std::vector<Note> notes;               ///< in the order of the document, whose indices EditNote takes
  std::vector<Cycle> flags;
  bool editable = false;                 ///< bars can be dragged
  bool can_ask_slack = false;            ///< the exact band of a dragged bar can be asked for
  Constraints constraints;               ///< that a drop is added to
  Highlight highlight;
  std::vector<OpId> pinned;              ///< start fixed by a constraint that is on
  std::vector<OpId> framed;              ///< of these: only so that other pins mean what was seen (session/proposal.h)
  std::vector<ProposedPlace> proposed;   ///< asked for by a constraint that is on, but not so in this schedule
  std::vector<OpId> differing;           ///< start (modulo shifts), group or stage differs from what it is compared with
  std::optional<SlackRanges> slack;      ///< of the shown schedule; longest paths or exact
};

/// For the shown schedule; empty without one.
ChartOverlay build_overlay(const Session& session);

}  // namespace heddle::app
