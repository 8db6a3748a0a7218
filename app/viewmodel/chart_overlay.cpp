// From constraints, answers and schedules to marks on a chart.
#include "app/viewmodel/chart_overlay.h"

#include <algorithm>

namespace heddle::app {
namespace {

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
  overlay.notes = content.notes;
  overlay.flags = content.flags;
  std::optional<CriticalModel> critical;
  if (session.view().critical) {
    critical = build_critical(*content.problem, *content.bounds, content.entry()->schedule, content.entry()->period);
    overlay.critical = critical->legend;
  }
  overlay.focus = build_focus(*content.problem, overlay.highlight, critical ? &*critical : nullptr);
  overlay.whiskers = session.view().whiskers;
  for (const UserConstraint& constraint : content.constraints)
    if (constraint.enabled && constraint.kind == ConstraintKind::Pin && constraint.ops.size() == 1)
      if (const OpId op = content.problem->find_op(constraint.ops.front()); op.valid()) overlay.pinned.push_back(op);
  if (session.answered(Topic::Slack))
    if (const auto* slack = session.inquiry(Topic::Slack).as<SlackRanges>()) overlay.slack = *slack;
  return overlay;
}

}  // namespace heddle::app
