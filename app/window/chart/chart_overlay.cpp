#include "app/window/chart/chart_overlay.h"

#include <algorithm>

#include "app/session/proposal.h"
#include "app/session/question_state.h"
#include "core/analysis/difference.h"
#include "core/base/text_style.h"
#include "core/chart/op_facts.h"

namespace heddle::app {
namespace {

void add_constraints(const Problem& problem, const Schedule& schedule, ChartOverlay& overlay) {
  const Cycle shift = frame_shift(problem, overlay.constraints, schedule);
  const auto proposed = [&](OpId op) -> ProposedPlace& {
    const auto found = std::find_if(overlay.proposed.begin(), overlay.proposed.end(), [&](const ProposedPlace& p) { return p.op == op; });
    if (found != overlay.proposed.end()) return *found;
    return overlay.proposed.emplace_back(ProposedPlace{op, schedule.start(op), std::nullopt});
  };
  for (const UserConstraint& c : overlay.constraints) {
    if (!c.enabled || c.ops.size() != 1) continue;
    const OpId op = problem.find_op(c.ops.front());
    if (!op.valid()) continue;
    if (c.kind == ConstraintKind::Pin) {
      overlay.pinned.push_back(op);
      if (is_frame(c)) overlay.framed.push_back(op);
      if (!is_frame(c) && schedule.start(op) + shift != c.low) proposed(op).start = c.low - shift;
    }
    if (c.kind == ConstraintKind::InGroup && !is_frame(c) && c.low >= 0 && static_cast<std::int64_t>(schedule.group(op).index()) != c.low)
      proposed(op).group = GroupId(static_cast<std::size_t>(c.low));
  }
}

template <class Id>
void mark(std::vector<bool>& marks, Id id) {
  if (id.valid() && id.index() < marks.size()) marks[id.index()] = true;
}

ChartFocus build_focus(const Problem& problem, const Highlight& highlight, const CriticalModel* critical) {
  ChartFocus focus;
  focus.ops.resize(problem.ops.size());
  focus.edges.resize(problem.edges.size());
  if (!highlight.why.empty()) {
    focus.why = highlight.why;
    for (const OpId op : highlight.ops) mark(focus.ops, op);
    for (const EdgeId edge : highlight.edges) mark(focus.edges, edge);
    focus.lanes = highlight.lanes;
  } else if (critical) {
    focus.why = critical->legend;
    for (const OpId op : critical->ops) mark(focus.ops, op);
    focus.cycle = critical->cycle;
    focus.lanes = critical->lanes;
  }
  const auto none = [](const std::vector<bool>& marks) { return std::find(marks.begin(), marks.end(), true) == marks.end(); };
  if (none(focus.ops) && none(focus.edges)) focus.ops.clear(), focus.edges.clear();
  return focus;
}

}  // namespace

ChartOverlay build_overlay(const Session& session) {
  ChartOverlay overlay;
  const Content& content = session.content();
  if (!content.problem || !content.entry()) return overlay;
  overlay.highlight = session.view().highlight;
  constexpr int kMostOfSource = 160;  // the inspector has all of it
  for (std::size_t v = 0; v < content.problem->ops.size(); ++v)
    overlay.sources.push_back(shortened(latency_source(*content.machine, *content.problem, OpId(v)), kMostOfSource));
  overlay.notes = content.notes;
  overlay.flags = content.flags;
  overlay.editable = true;
  overlay.can_ask_slack = !session.asking() && !session.live().active() && session.why_no_question(Topic::Slack).empty();
  overlay.constraints = content.constraints;
  add_constraints(*content.problem, content.entry()->schedule, overlay);
  const ScheduleEntry* baseline = content.baseline_entry();
  if (baseline && baseline != content.entry())
    overlay.differing = differing_ops(*content.problem, baseline->schedule, content.entry()->schedule);
  std::optional<CriticalModel> critical;
  if (session.view().critical) {
    critical = build_critical(*content.problem, *content.bounds, content.entry()->schedule, content.entry()->period);
    overlay.critical = critical->legend;
  }
  overlay.focus = build_focus(*content.problem, overlay.highlight, critical ? &*critical : nullptr);
  overlay.barriers = session.view().barriers;
  overlay.tensor = session.view().tensor;
  overlay.queues = session.view().queues;
  overlay.whiskers = session.view().whiskers;
  if (session.answered(Topic::Slack))
    if (const auto* slack = session.question(Topic::Slack).as<SlackRanges>()) overlay.slack = *slack;
  return overlay;
}

}  // namespace heddle::app
