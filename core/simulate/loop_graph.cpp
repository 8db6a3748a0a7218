// First potentials that leave no edge pointing forward, then strong components, then edges sorted the way the run reads them.
#include "core/simulate/loop_graph.h"

#include <algorithm>
#include <limits>

#include "core/base/saturate.h"

namespace heddle {
namespace {

using Index = std::uint32_t;
constexpr Index kNone = std::numeric_limits<Index>::max();

std::int64_t lag_of(const EventEdge& e, const std::vector<std::int64_t>& shift) {
  return sat_add(e.tokens, sat_add(shift[e.to.index()], -shift[e.from.index()]));
}

/// The last edge that improved each op, followed back from `at` until an op comes twice: a cycle, in order.
std::vector<Index> cycle_through(const std::vector<EventEdge>& events, const std::vector<Index>& parent, std::size_t at) {
  for (std::size_t i = 0; i < parent.size(); ++i) at = events[parent[at]].from.index();
  std::vector<Index> cycle;
  std::size_t v = at;
  do {
    cycle.push_back(parent[v]);
    v = events[parent[v]].from.index();
  } while (v != at);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

/// Raises shifts until no edge points forward. Empty, or a cycle whose tokens are negative.
std::vector<Index> settle_shifts(const std::vector<EventEdge>& events, const std::vector<char>& alive, std::vector<std::int64_t>& shift) {
  std::vector<Index> parent(shift.size(), kNone);
  for (std::size_t pass = 0;; ++pass) {
    bool moved = false;
    for (Index e = 0; e < events.size(); ++e) {
      const std::int64_t lag = alive[e] ? lag_of(events[e], shift) : 0;
      if (lag >= 0) continue;
      const std::size_t to = events[e].to.index();
      shift[to] = sat_add(shift[to], -lag);
      parent[to] = e;
      if (pass > shift.size()) return cycle_through(events, parent, to);
      moved = true;
    }
    if (!moved) return {};
  }
}

/// Strong components by Tarjan's method without recursion, numbered so that edges go from greater to smaller numbers.
struct Components {
  std::vector<Index> of;
  Index count = 0;

  Components(std::size_t nodes, const std::vector<std::vector<Index>>& next) : of(nodes, kNone) {
    std::vector<Index> number(nodes, kNone), low(nodes, 0), stack, path;
    std::vector<std::size_t> position(nodes, 0);
    Index counter = 0;
    for (Index root = 0; root < nodes; ++root) {
      if (number[root] != kNone) continue;
      path.push_back(root);
      while (!path.empty()) {
        const Index v = path.back();
        if (number[v] == kNone) {
          number[v] = low[v] = counter++;
          stack.push_back(v);
        }
        if (position[v] < next[v].size()) {
          const Index w = next[v][position[v]++];
          if (number[w] == kNone)
            path.push_back(w);
          else if (of[w] == kNone)
            low[v] = std::min(low[v], number[w]);
          continue;
        }
        path.pop_back();
        if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[v]);
        if (low[v] != number[v]) continue;
        Index w = kNone;
        do {
          w = stack.back();
          stack.pop_back();
          of[w] = count;
        } while (w != v);
        ++count;
      }
    }
  }
};

/// A cycle of positive weight among ops of one step, if there is any.
std::vector<Index> positive_cycle(const std::vector<EventEdge>& events, const std::vector<Index>& edges, std::size_t ops) {
  std::vector<Cycle> time(ops, 0);
  std::vector<Index> parent(ops, kNone);
  for (std::size_t pass = 0;; ++pass) {
    bool moved = false;
    for (const Index e : edges) {
      const Cycle due = sat_add(time[events[e].from.index()], events[e].weight);
      if (due <= time[events[e].to.index()]) continue;
      time[events[e].to.index()] = due;
      parent[events[e].to.index()] = e;
      if (pass > ops) return cycle_through(events, parent, events[e].to.index());
      moved = true;
    }
    if (!moved) return {};
  }
}

}  // namespace

std::vector<std::uint32_t> ring_predecessors(const std::vector<EventEdge>& events) {
  std::vector<Index> before(events.size(), kNone);
  for (Index begin = 0; begin < events.size();) {
    Index end = begin + 1;
    while (end < events.size() && events[end].ring == events[begin].ring) ++end;
    if (events[begin].ring >= 0)
      for (Index e = begin; e < end; ++e) before[e] = e == begin ? end - 1 : e - 1;
    begin = end;
  }
  return before;
}

RingSource nearest_on_ring(const std::vector<EventEdge>& events, const std::vector<std::uint32_t>& ring_before, std::uint32_t edge,
                           std::int64_t iteration, std::int64_t trips) {
  Cycle weight = events[edge].weight - events[edge].length;
  // Once round the ring is one iteration less: a whole round before the first one, and no op is left.
  Index first_absent = kNone;
  for (Index e = ring_before[edge];; e = ring_before[e]) {
    const EventEdge& event = events[e];
    iteration -= event.tokens;
    if (iteration >= 0 && iteration < trips) return {event.from, iteration, event.weight + weight};
    weight += event.weight - event.length;
    if (iteration >= 0)
      first_absent = kNone;
    else if (first_absent == kNone)
      first_absent = e;
    else if (e == first_absent)
      return {};
  }
}

LoopGraph loop_graph(const Problem& problem, const Schedule& schedule, std::int64_t trips) {
  const std::size_t ops = problem.ops.size();
  LoopGraph graph;
  graph.events = event_graph(problem, schedule);
  // A stream of one op that takes no issue time is no cycle worth an edge, but it is in order.
  std::vector<char> in_order(ops, 0);
  for (const EventEdge& e : graph.events)
    if (e.kind == EventEdge::Kind::Stream) in_order[e.to.index()] = 1;
  for (std::size_t v = 0; v < ops; ++v)
    if (!in_order[v]) graph.events.push_back({EventEdge::Kind::Stream, OpId(v), OpId(v), 0, 1, "stream", ChannelId{}, EdgeId{}, -1, 0});
  graph.ring_before = ring_predecessors(graph.events);
  std::vector<char> alive(graph.events.size(), 1);
  for (;;) {
    graph.shift.assign(ops, 0);
    for (std::size_t v = 0; v < ops; ++v) graph.shift[v] = schedule.ops[v].start / schedule.ii;
    std::vector<Index> cycle = settle_shifts(graph.events, alive, graph.shift);
    if (cycle.empty()) break;
    // "No later than": a use that the schedule places before one of an op that issues earlier. Nothing can wait for that.
    const auto late = std::find_if(cycle.begin(), cycle.end(),
                                   [&](Index e) { return graph.events[e].kind == EventEdge::Kind::Unit && graph.events[e].weight <= 0; });
    if (late == cycle.end()) {
      graph.deadlock = std::move(cycle);
      return graph;
    }
    alive[*late] = 0;
    ++graph.dropped;
  }
  const std::int64_t least = ops ? *std::min_element(graph.shift.begin(), graph.shift.end()) : 0;
  for (std::int64_t& s : graph.shift) graph.most_shift = std::max(graph.most_shift, s -= least);

  std::vector<std::vector<Index>> next_now(ops), next(ops), edges_to(ops);
  std::vector<Index> now;
  for (Index e = 0; e < graph.events.size(); ++e) {
    if (!alive[e]) continue;
    const EventEdge& event = graph.events[e];
    const std::int64_t lag = lag_of(event, graph.shift);
    if (lag == 0) {
      now.push_back(e);
      if (event.from == event.to && event.weight <= 0) continue;
      next_now[event.from.index()].push_back(static_cast<Index>(event.to.index()));
    }
    if (lag > trips + graph.most_shift) continue;
    graph.most_lag = std::max(graph.most_lag, lag);
    next[event.from.index()].push_back(static_cast<Index>(event.to.index()));
    edges_to[event.to.index()].push_back(e);
  }
  graph.deadlock = positive_cycle(graph.events, now, ops);
  if (!graph.deadlock.empty()) return graph;

  const Components all(ops, next), step(ops, next_now);
  graph.component = all.of;
  graph.components = all.count;
  for (Index v = 0; v < ops; ++v) graph.order.push_back(v);
  std::stable_sort(graph.order.begin(), graph.order.end(), [&](Index a, Index b) { return step.of[a] > step.of[b]; });
  for (Index i = 0; i < ops; ++i)
    if (i == 0 || step.of[graph.order[i]] != step.of[graph.order[i - 1]]) graph.blocks.push_back(i);
  graph.blocks.push_back(static_cast<Index>(ops));

  for (const Index v : graph.order) {
    graph.first.push_back(static_cast<Index>(graph.edges.size()));
    const auto rank = [&](Index e) {
      const EventEdge& event = graph.events[e];
      return event.kind == EventEdge::Kind::Stream ? 0 : all.of[event.from.index()] == all.of[v] ? 1 : 2;
    };
    std::stable_sort(edges_to[v].begin(), edges_to[v].end(), [&](Index a, Index b) { return rank(a) < rank(b); });
    Index wait = kNone;
    for (const Index e : edges_to[v]) {
      if (rank(e) > 0 && wait == kNone) wait = static_cast<Index>(graph.edges.size());
      graph.edges.push_back({static_cast<Index>(graph.events[e].from.index()), static_cast<Index>(lag_of(graph.events[e], graph.shift)),
                             graph.events[e].weight, rank(e) == 2, e});
    }
    graph.first_wait.push_back(wait == kNone ? static_cast<Index>(graph.edges.size()) : wait);
  }
  graph.first.push_back(static_cast<Index>(graph.edges.size()));
  return graph;
}

}  // namespace heddle
