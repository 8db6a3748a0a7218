// What is laid over the bars of a chart besides the schedule itself: pins, differences, slack, what an answer points at.
#pragma once

#include <optional>
#include <vector>

#include "app/session/session.h"
#include "app/window/chart/critical_model.h"
#include "core/answers/slack.h"

namespace heddle::app {

/// Where a constraint wants an op to be.
struct ProposedPlace {
  OpId op;
  Cycle start = 0;               ///< in cycles of the schedule on the chart
  std::optional<GroupId> group;  ///< other than its present one
};

/// What stands out; everything else steps back.
struct ChartFocus {
  std::string why;                 ///< empty: nothing does
  std::vector<bool> ops, edges;    ///< by index
  std::vector<CycleStep> cycle;    ///< drawn through the bars
  std::vector<std::string> lanes;  ///< by label
  /// There is something that stands out, so that the rest steps back.
  bool active() const { return !ops.empty() || !edges.empty(); }
  bool has(OpId op) const { return op.index() < ops.size() && ops[op.index()]; }
  bool has(EdgeId edge) const { return edge.index() < edges.size() && edges[edge.index()]; }
};

struct ChartOverlay {
  std::vector<std::string> sources;  ///< per op: where its latency comes from, for the tooltip
  std::vector<Note> notes;           ///< in the order of the document, whose indices EditNote takes
  std::vector<Cycle> flags;
  bool editable = false;       ///< bars can be dragged
  bool can_ask_slack = false;  ///< the exact band of a dragged bar can be asked for
  Constraints constraints;     ///< that a drop is added to
  Highlight highlight;
  ChartFocus focus;                     ///< the highlight, else what limits II where that is asked for
  std::string critical;                 ///< the legend of what limits II; empty: not shown
  bool barriers = false;                ///< lanes of barriers and phases
  bool tensor = false;                  ///< lanes of tensor memory
  bool queues = false;                  ///< lanes of rings as queues
  bool whiskers = false;                ///< `slack` is drawn on the bars
  std::vector<OpId> pinned;             ///< start fixed by a constraint that is on
  std::vector<OpId> framed;             ///< of these: only so that other pins mean what was seen (session/proposal.h)
  std::vector<ProposedPlace> proposed;  ///< asked for by a constraint that is on, but not so in this schedule
  std::vector<OpId> differing;          ///< start (modulo shifts), group or stage differs from what it is compared with
  std::optional<SlackRanges> slack;     ///< of the shown schedule; longest paths or exact
};

/// For the shown schedule; empty without one.
ChartOverlay build_overlay(const Session& session);

}  // namespace heddle::app
