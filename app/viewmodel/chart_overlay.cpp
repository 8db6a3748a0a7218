// From constraints, answers and schedules to marks on a chart.
#include "app/viewmodel/chart_overlay.h"

namespace heddle::app {

ChartOverlay build_overlay(const Session& session) {
  ChartOverlay overlay;
  const Content& content = session.content();
  if (!content.problem || !content.entry()) return overlay;
  overlay.highlight = session.view().highlight;
  overlay.notes = content.notes;
  overlay.flags = content.flags;
  for (const UserConstraint& constraint : content.constraints)
    if (constraint.enabled && constraint.kind == ConstraintKind::Pin && constraint.ops.size() == 1)
      if (const OpId op = content.problem->find_op(constraint.ops.front()); op.valid()) overlay.pinned.push_back(op);
  if (session.answered(Topic::Slack))
    if (const auto* slack = session.inquiry(Topic::Slack).as<SlackRanges>()) overlay.slack = *slack;
  return overlay;
}

}  // namespace heddle::app
