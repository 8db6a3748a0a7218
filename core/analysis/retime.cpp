#include "core/analysis/retime.h"

#include <algorithm>

#include "core/analysis/bounds.h"
#include "core/analysis/channels.h"
#include "core/analysis/cycle_ratio.h"
#include "core/analysis/period.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"

namespace heddle {
namespace {

std::vector<RatioEdge> ratio_edges(const std::vector<EventEdge>& events, bool with_rings) {
  std::vector<RatioEdge> edges;
  for (const EventEdge& e : events)
    if (with_rings || e.kind != EventEdge::Kind::Credit) edges.push_back({e.from.index(), e.to.index(), e.weight, e.tokens});
  return edges;
}

/// Ops as early as possible, but not before `starts`.
Schedule moved(const Problem& problem, Schedule schedule, const std::vector<RatioEdge>& edges, Cycle ii, std::vector<Cycle> starts) {
  starts = longest_paths(edges, ii, std::move(starts));
  schedule.ii = ii;
  for (std::size_t v = 0; v < starts.size(); ++v) schedule.ops[v].start = starts[v];
  return refitted(problem, std::move(schedule));
}

Cycle least_ii(const CycleRatio& ratio) { return std::max<Cycle>(1, ceil_div(ratio.weight, ratio.tokens)); }

}  // namespace

Schedule refitted(const Problem& problem, Schedule schedule) {
  derive_groups(problem, schedule, UnusedGroups::Keep);
  for (ScheduleGroup& group : schedule.groups) group.registers = 0;
  schedule.depths = minimal_depths(problem, schedule);
  schedule.certificate.reset();
  return schedule;
}

Cycle order_bound(const Problem& problem, const Schedule& like) {
  Schedule deepest = like;
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    deepest.depths[c] = channel_exists(problem.channels[c], like) ? problem.channels[c].max_depth : 0;
  const std::vector<RatioEdge> edges = ratio_edges(event_graph(problem, deepest), true);
  const CycleRatio ratio = max_cycle_ratio(problem.ops.size(), edges);
  return ratio.impossible ? kNoFiniteII : least_ii(ratio);
}

std::optional<Schedule> earliest_retiming(const Problem& problem, const Schedule& like) {
  const std::vector<RatioEdge> edges = ratio_edges(event_graph(problem, like), true);
  const CycleRatio ratio = max_cycle_ratio(problem.ops.size(), edges);
  if (ratio.impossible) return std::nullopt;
  return moved(problem, like, edges, least_ii(ratio), std::vector<Cycle>(problem.ops.size(), 0));
}

std::vector<Schedule> retimings(const Problem& problem, const Schedule& like) {
  std::vector<Schedule> found;
  const std::vector<EventEdge> events = event_graph(problem, like);
  for (const bool with_rings : {true, false}) {
    const std::vector<RatioEdge> edges = ratio_edges(events, with_rings);
    const CycleRatio ratio = max_cycle_ratio(problem.ops.size(), edges);
    if (ratio.impossible) continue;
    const Cycle ii = least_ii(ratio);
    for (const bool early : {false, true}) {
      std::vector<Cycle> starts(problem.ops.size(), 0);
      if (!early)
        for (std::size_t v = 0; v < starts.size(); ++v) starts[v] = sat_add(sat_mul(like.stage(OpId(v)), ii), like.slot(OpId(v)));
      found.push_back(moved(problem, like, edges, ii, std::move(starts)));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Schedule& a, const Schedule& b) { return a.ii < b.ii; });
  return found;
}

}  // namespace heddle
