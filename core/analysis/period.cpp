#include "core/analysis/period.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/analysis/channels.h"
#include "core/analysis/cycle_ratio.h"
#include "core/analysis/usage_curve.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"

namespace heddle {
namespace {

/// Numbers beyond this would overflow the ratio's arithmetic; legal problems stay far below.
constexpr std::int64_t kMost = std::int64_t{1} << 46;

struct Builder {
  const Problem& problem;
  const Schedule& schedule;
  std::vector<EventEdge> edges;
  int rings = 0;

  void add(EventEdge edge) {
    edge.weight = std::clamp(edge.weight, -kMost, kMost);
    edge.tokens = std::clamp(edge.tokens, -kMost, kMost);
    edges.push_back(std::move(edge));
  }

  /// Makes the edge added last one of the ring that is being built.
  void put_in_ring(Cycle length) {
    edges.back().ring = rings;
    edges.back().length = std::clamp(length, -kMost, kMost);
  }

  bool crosses(OpId a, OpId b) const { return schedule.group(a) != schedule.group(b); }

  void add_data() {
    for (std::size_t i = 0; i < problem.edges.size(); ++i) {
      const Edge& e = problem.edges[i];
      add({.kind = EventEdge::Kind::Data,
           .from = e.from,
           .to = e.to,
           .weight = sat_add(e.latency, crosses(e.from, e.to) ? e.handoff : 0),
           .tokens = e.distance,
           .what = e.value.valid() ? problem.value(e.value).name : "order",
           .edge = EdgeId(i)});
    }
  }

  void add_credits() {
    for (std::size_t i = 0; i < problem.channels.size(); ++i) {
      const Channel& channel = problem.channels[i];
      for (const Reader& r : channel.readers) {
        if (!reader_counts(channel, r, schedule)) continue;
        add({.kind = EventEdge::Kind::Credit,
             .from = r.op,
             .to = channel.writer,
             .weight = sat_add(r.release, crosses(r.op, channel.writer) ? r.signal : 0),
             .tokens = std::int64_t{schedule.depths[i]} - r.distance,
             .what = fmt::format("ring {} (depth {})", channel.name, schedule.depths[i]),
             .channel = ChannelId(i)});
      }
    }
  }

  /// One in-order stream per group. In window j an op of stage k works on iteration j - k, so the step from an op to the
  /// next in the stream goes k(from) - k(to) iterations back, one more where the window wraps. An op that neither takes
  /// issue time nor waits keeps its place in the order of starts but may lie inside another op's window, so the next op
  /// waits for that window's own end.
  void add_streams() {
    std::set<OpId> waiting;
    for (const Edge& e : problem.edges)
      if (e.waits || crosses(e.from, e.to)) waiting.insert(e.to);
    std::vector<std::vector<OpId>> streams(schedule.groups.size());
    for (std::size_t v = 0; v < problem.ops.size(); ++v) streams[schedule.ops[v].group.index()].push_back(OpId(v));
    for (std::size_t g = 0; g < streams.size(); ++g) {
      const std::string what = role_name(schedule, g) + " stream";
      std::vector<OpId> order = streams[g], blocking;
      std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) {
        if (schedule.slot(a) != schedule.slot(b)) return schedule.slot(a) < schedule.slot(b);
        return (problem.op(a).window > 0) < (problem.op(b).window > 0);
      });
      for (OpId v : order)
        if (problem.op(v).window > 0 || waiting.count(v)) blocking.push_back(v);
      add_ring(blocking, what, [&](OpId v, OpId) { return problem.op(v).window; });
      if (blocking.size() < order.size() && order.size() > 1) add_ring(order, what, [](OpId, OpId) { return 0; });
    }
  }

  void add_ring(const std::vector<OpId>& order, const std::string& what, auto&& weight) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const OpId from = order[i], to = order[(i + 1) % order.size()];
      const std::int64_t wrap = i + 1 == order.size() ? 1 : 0;
      add({.kind = EventEdge::Kind::Stream,
           .from = from,
           .to = to,
           .weight = weight(from, to),
           .tokens = schedule.start(from) / schedule.ii - schedule.start(to) / schedule.ii + wrap,
           .what = what});
      put_in_ring(edges.back().weight);
    }
    ++rings;
  }

  struct Use {
    OpId op;
    Cycle offset, duration;
    std::int64_t amount;
    Cycle window, slot;  ///< where it begins: window * II + slot
  };

  void add_unit_order(const Use& a, const Use& b, std::int64_t wrap, const std::string& what) {
    add({.kind = EventEdge::Kind::Unit,
         .from = a.op,
         .to = b.op,
         .weight = a.offset + a.duration - b.offset,
         .tokens = a.window - b.window + wrap,
         .what = what});
  }

  /// Uses that exclude each other run one after the other, each waiting for the one before. Other pairs whose amounts
  /// cannot coexist are ordered pair by pair, and a use waits for its own iterations as far back as can coexist. What
  /// only three or more uses together exceed is not an order, so the graph leaves it out: the period is a lower bound there.
  void add_units() {
    std::vector<std::vector<Use>> by_unit(problem.units.size());
    for (std::size_t v = 0; v < problem.ops.size(); ++v) {
      for (const UnitUse& use : problem.ops[v].uses) {
        if (use.duration <= 0 || use.amount <= 0) continue;
        const Cycle begin = schedule.ops[v].start + use.offset, slot = modulo(begin, schedule.ii);
        by_unit[use.unit.index()].push_back({OpId(v), use.offset, use.duration, use.amount, floor_div(begin, schedule.ii), slot});
      }
    }
    for (std::size_t u = 0; u < by_unit.size(); ++u) {
      const Unit& unit = problem.units[u];
      auto& uses = by_unit[u];
      std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.slot < b.slot; });
      const auto excludes = [&](const Use& a) { return a.amount > unit.capacity - a.amount; };
      std::vector<Use> exclusive;
      std::copy_if(uses.begin(), uses.end(), std::back_inserter(exclusive), excludes);
      for (std::size_t i = 0; i < exclusive.size(); ++i) {
        add_unit_order(exclusive[i], exclusive[(i + 1) % exclusive.size()], i + 1 == exclusive.size() ? 1 : 0, unit.name);
        put_in_ring(exclusive[i].duration);
      }
      ++rings;
      for (std::size_t i = 0; i < uses.size(); ++i) {
        if (!excludes(uses[i])) add_unit_order(uses[i], uses[i], unit.capacity / uses[i].amount, unit.name);
        for (std::size_t j = i + 1; j < uses.size(); ++j) {
          if ((excludes(uses[i]) && excludes(uses[j])) || uses[i].amount <= unit.capacity - uses[j].amount) continue;
          add_unit_order(uses[i], uses[j], 0, unit.name);
          add_unit_order(uses[j], uses[i], 1, unit.name);
        }
      }
    }
  }
};

std::string describe(const Problem& problem, const Period& period) {
  const auto kind_count = [&](EventEdge::Kind kind) {
    return std::count_if(period.cycle.begin(), period.cycle.end(), [&](const EventEdge& e) { return e.kind == kind; });
  };
  const auto first_of = [&](EventEdge::Kind kind) {
    return std::find_if(period.cycle.begin(), period.cycle.end(), [&](const EventEdge& e) { return e.kind == kind; })->what;
  };
  const auto size = static_cast<std::ptrdiff_t>(period.cycle.size());
  std::string subject = "a loop through several resources";
  if (kind_count(EventEdge::Kind::Credit) > 0)
    subject = first_of(EventEdge::Kind::Credit);
  else if (kind_count(EventEdge::Kind::Unit) == size)
    subject = first_of(EventEdge::Kind::Unit);
  else if (kind_count(EventEdge::Kind::Stream) == size)
    subject = first_of(EventEdge::Kind::Stream);
  else if (kind_count(EventEdge::Kind::Data) == size)
    subject = "a recurrence";
  constexpr std::size_t kShown = 8;
  std::string path;
  for (std::size_t i = 0; i < std::min(period.cycle.size(), kShown); ++i) {
    const EventEdge& e = period.cycle[i];
    path += fmt::format("{}{} {}", i ? " + " : "", problem.op(e.from).name, e.weight);
    if (e.what != subject) path += fmt::format(" ({})", e.what);
  }
  if (period.cycle.size() > kShown) path += fmt::format(" + {} more", period.cycle.size() - kShown);
  if (period.deadlock) return fmt::format("deadlock: {} waits for itself: {}", subject, path);
  return fmt::format("limited by {}: {} = {} cycles over {}", subject, path, period.weight, count_of(period.tokens, "iteration"));
}

}  // namespace

bool waits_for_result(const Problem& problem, const EventEdge& event) {
  if (event.kind == EventEdge::Kind::Data) return true;
  return event.kind == EventEdge::Kind::Credit && problem.op(event.from).asynchronous;
}

std::vector<EventEdge> event_graph(const Problem& problem, const Schedule& schedule) {
  Builder builder{problem, schedule, {}, 0};
  builder.add_data();
  builder.add_streams();
  builder.add_units();
  builder.add_credits();
  return std::move(builder.edges);
}

Period sustainable_period(const Problem& problem, const Schedule& schedule) {
  const auto events = event_graph(problem, schedule);
  std::vector<RatioEdge> edges;
  edges.reserve(events.size());
  for (const EventEdge& e : events) edges.push_back({e.from.index(), e.to.index(), e.weight, e.tokens});
  const CycleRatio ratio = max_cycle_ratio(problem.ops.size(), edges);
  Period period;
  period.deadlock = ratio.impossible;
  period.weight = ratio.weight;
  period.tokens = ratio.tokens;
  for (std::size_t e : ratio.cycle) period.cycle.push_back(events[e]);
  period.sentence = period.cycle.empty() ? "nothing limits the period" : describe(problem, period);
  return period;
}

}  // namespace heddle
