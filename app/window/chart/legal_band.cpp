// For the op alone, the slack of the event graph. With all others free to move, longest paths from and to what stands still, unless an
// answer of the solver has the exact ends.
#include "app/window/chart/legal_band.h"

#include <algorithm>

#include "app/session/proposal.h"
#include "core/analysis/slack.h"
#ifdef HEDDLE_HAS_SOLVER
#include "solver/questions/slack.h"
#endif

namespace heddle::app {
namespace {

constexpr std::size_t kMostOps = 400;  // longest paths between all pairs: some ten milliseconds

#ifdef HEDDLE_HAS_SOLVER
void narrow(LegalBand& band, Cycle earliest, Cycle latest) {
  band.earliest = std::max(earliest, band.earliest.value_or(earliest));
  band.latest = std::min(latest, band.latest.value_or(latest));
}
#endif

}  // namespace

LegalBand legal_band(const Problem& problem, const Constraints& constraints, const Schedule& schedule, OpId op, const SlackRanges* answer) {
  LegalBand band;
  const Cycle start = schedule.start(op);
  const Slack alone = compute_slack(problem, schedule)[op.index()];
  // An op that nothing holds on one side still has a window to stay in.
  const auto room = [&](Cycle slack) { return std::clamp<Cycle>(slack, 0, schedule.ii); };
  band.alone_earliest = start - room(alone.earlier);
  band.alone_latest = start + room(alone.later);

  std::vector<OpId> still;
  bool pinned_itself = false;
  for (const UserConstraint& c : constraints) {
    if (!c.enabled || c.kind != ConstraintKind::Pin || c.ops.size() != 1) continue;
    const OpId other = problem.find_op(c.ops.front());
    if (other == op)
      pinned_itself = true;
    else if (other.valid() && std::find(still.begin(), still.end(), other) == still.end())
      still.push_back(other);
  }
  if (still.empty())
    if (const OpId frame = frame_op(problem, schedule, op); frame.valid()) still.push_back(frame);
  if (still.empty()) return band;

  // The answer holds its own anchor, and this op too where it is pinned.
  if (answer && !pinned_itself && answer->anchor != op) {
    const auto row = std::find_if(answer->ops.begin(), answer->ops.end(), [&](const OpRange& r) { return r.op == op; });
    if (row != answer->ops.end() && row->settled()) {
      band.earliest = row->earliest.bound;
      band.latest = row->latest.bound;
      band.exact = true;
      return band;
    }
  }
#ifdef HEDDLE_HAS_SOLVER
  if (problem.ops.size() > kMostOps) return band;
  solver::SlackRequest request;
  request.problem = problem;
  request.schedule = schedule;
  request.ops = {op};
  request.stages = stage_count(schedule);
  for (const OpId anchor : still) {
    request.anchor = anchor;
    const SlackRanges paths = solver::slack_ranges(request);
    if (!paths.ops.empty() && paths.ops.front().path_earliest <= start && start <= paths.ops.front().path_latest)
      narrow(band, paths.ops.front().path_earliest, paths.ops.front().path_latest);
  }
  // A schedule that breaks rules is no bound.
  if (band.earliest && *band.earliest > *band.latest) band.earliest = band.latest = std::nullopt;
#endif
  return band;
}

}  // namespace heddle::app
