#include "core/analysis/slack.h"

#include <algorithm>

#include "core/analysis/period.h"
#include "core/base/saturate.h"

namespace heddle {

std::vector<Slack> compute_slack(const Problem& problem, const Schedule& schedule) {
  std::vector<Slack> slacks(problem.ops.size());
  for (const EventEdge& e : event_graph(problem, schedule)) {
    if (e.from == e.to) continue;
    const Cycle due = sat_add(schedule.start(e.from), e.weight);
    const Cycle slack = sat_add(sat_add(schedule.start(e.to), sat_mul(e.tokens, schedule.ii)), -due);
    slacks[e.from.index()].later = std::min(slacks[e.from.index()].later, slack);
    slacks[e.to.index()].earlier = std::min(slacks[e.to.index()].earlier, slack);
  }
  return slacks;
}

Cycle edge_slack(const Problem& problem, const Schedule& schedule, EdgeId id) {
  const Edge& edge = problem.edge(id);
  const Cycle handoff = schedule.group(edge.from) == schedule.group(edge.to) ? 0 : edge.handoff;
  return schedule.start(edge.to) + edge.distance * schedule.ii - schedule.start(edge.from) - edge.latency - handoff;
}

}  // namespace heddle
