// Whoever comes first has the unit, which is found by running the program until it is steady; where its steady state is not the same in
// every iteration, one order per iteration is made of it. Then neighbours on the limiting cycle are swapped while that helps.
#include "core/timing/unit_turns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

#include "core/analysis/channels.h"
#include "core/base/integer_division.h"

namespace heddle::timing {
namespace {

using Origin = ProgramGraph::Origin;

constexpr std::size_t kWarmUp = 24;   // iterations until the self-timed run is taken to be steady
constexpr std::size_t kMeasured = 8;  // iterations over which its period is measured
constexpr int kPatience = 12;         // swaps without a new best

/// One reservation of a unit; in turn j it serves iteration j - stage.
struct Use {
  OpId op;
  Cycle offset = 0, duration = 0;
  std::int64_t amount = 1;
  std::int64_t stage = 0;
};
using Ring = std::vector<Use>;

struct Builder {
  const Problem& problem;
  const LoopProgram& program;
  const Schedule& groups;
  std::vector<std::int64_t> stage;    ///< per op
  std::vector<std::size_t> position;  ///< per op, in its stream
  ProgramGraph fixed;                 ///< everything but turns that are free

  Builder(const Problem& p, const LoopProgram& w, const Schedule& g)
      : problem(p), program(w), groups(g), stage(p.ops.size(), 0), position(p.ops.size(), 0) {
    for (const auto& stream : program.streams)
      for (std::size_t i = 0; i < stream.size(); ++i) {
        stage[stream[i].op.index()] = stream[i].stage;
        position[stream[i].op.index()] = i;
      }
    add_data();
    add_credits();
    for (const AddedWait& wait : program.waits)
      fixed.add({wait.from.index(), wait.to.index(), wait.cycles, wait.tokens}, {Origin::Kind::Wait, {}, {}, {}, 0});
    for (const auto& turn : program.turns) add_turn(turn);
    for (const auto& stream : program.streams) add_stream(stream);
  }

  bool crosses(OpId a, OpId b) const { return groups.group(a) != groups.group(b); }

  void add_data() {
    for (const Edge& e : problem.edges)
      fixed.add({e.from.index(), e.to.index(), e.latency + (crosses(e.from, e.to) ? e.handoff : 0), e.distance},
                {Origin::Kind::Data, {}, e.value, {}, 0});
  }

  void add_credits() {
    for (std::size_t c = 0; c < problem.channels.size(); ++c) {
      const Channel& channel = problem.channels[c];
      for (const Reader& r : channel.readers)
        if (reader_counts(channel, r, groups))
          fixed.add({r.op.index(), channel.writer.index(), r.release + (crosses(r.op, channel.writer) ? r.signal : 0),
                     groups.depths[c] - r.distance},
                    {Origin::Kind::Credit, ChannelId(c), {}, {}, 0});
    }
  }

  std::int64_t tokens(OpId from, OpId to, bool wraps) const { return stage[from.index()] - stage[to.index()] + (wraps ? 1 : 0); }

  void add_stream(const std::vector<StreamStep>& stream) {
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const bool wraps = i + 1 == stream.size();
      const OpId from = stream[i].op, to = stream[wraps ? 0 : i + 1].op;
      fixed.add({from.index(), to.index(), problem.op(from).window, tokens(from, to, wraps)}, {Origin::Kind::Stream, {}, {}, {}, 0});
    }
  }

  /// Each op after the one before it on every unit that both use.
  void add_turn(const std::vector<OpId>& turn) {
    for (std::size_t i = 0; i < turn.size(); ++i) {
      const bool wraps = i + 1 == turn.size();
      const OpId from = turn[i], to = turn[wraps ? 0 : i + 1];
      for (const UnitUse& a : problem.op(from).uses)
        for (const UnitUse& b : problem.op(to).uses)
          if (a.unit == b.unit && a.duration > 0 && b.duration > 0)
            fixed.add({from.index(), to.index(), a.offset + a.duration - b.offset, tokens(from, to, wraps)},
                      {Origin::Kind::Turn, {}, {}, a.unit, 0});
    }
  }

  /// The uses of a unit that cannot coexist with themselves, or all of them.
  Ring uses_of(UnitId unit, UnitSharing sharing) const {
    Ring ring;
    const std::int64_t capacity = problem.unit(unit).capacity;
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      for (const UnitUse& use : problem.ops[v].uses)
        if (use.unit == unit && use.duration > 0 && use.amount > 0 &&
            (sharing == UnitSharing::OneAtATime || use.amount > capacity - use.amount))
          ring.push_back({OpId(v), use.offset, use.duration, use.amount, stage[v]});
    return ring;
  }

  /// Small uses of a large unit: pairs that do not fit together keep the order of the programs' turns.
  void add_small_uses(ProgramGraph& graph, UnitId unit) const {
    const std::int64_t capacity = problem.unit(unit).capacity;
    std::vector<Use> uses;
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      for (const UnitUse& use : problem.ops[v].uses)
        if (use.unit == unit && use.duration > 0 && use.amount > 0)
          uses.push_back({OpId(v), use.offset, use.duration, use.amount, stage[v]});
    const auto link = [&](const Use& a, const Use& b, std::int64_t count) {
      graph.add({a.op.index(), b.op.index(), a.offset + a.duration - b.offset, a.stage - b.stage + count},
                {Origin::Kind::Turn, {}, {}, unit, 0});
    };
    const auto small = [&](const Use& use) { return use.amount <= capacity - use.amount; };
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (small(uses[i])) link(uses[i], uses[i], capacity / uses[i].amount);
      for (std::size_t j = i + 1; j < uses.size(); ++j) {
        if ((!small(uses[i]) && !small(uses[j])) || uses[i].amount <= capacity - uses[j].amount) continue;
        const bool forward = position[uses[i].op.index()] <= position[uses[j].op.index()];
        link(forward ? uses[i] : uses[j], forward ? uses[j] : uses[i], 0);
        link(forward ? uses[j] : uses[i], forward ? uses[i] : uses[j], 1);
      }
    }
  }
};

void add_ring(ProgramGraph& graph, const Ring& ring, UnitId unit) {
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const bool wraps = i + 1 == ring.size();
    const Use &a = ring[i], &b = ring[wraps ? 0 : i + 1];
    graph.add({a.op.index(), b.op.index(), a.offset + a.duration - b.offset, a.stage - b.stage + (wraps ? 1 : 0)},
              {Origin::Kind::Unit, {}, {}, unit, i});
  }
}

/// Starts by op and iteration when every group runs its stream as soon as it can and units serve whoever comes first;
/// nothing when the program gets stuck.
std::optional<std::vector<std::vector<Cycle>>> self_timed(const Builder& builder, const std::vector<Ring>& rings, std::size_t length) {
  constexpr Cycle kUnknown = -1;
  const auto iterations = static_cast<std::int64_t>(length);
  const Problem& problem = builder.problem;
  const std::size_t n = problem.ops.size();
  std::vector<std::vector<Cycle>> start(n, std::vector<Cycle>(length, kUnknown));
  std::vector<std::vector<const RatioEdge*>> in(n);
  for (std::size_t e = 0; e < builder.fixed.edges.size(); ++e)
    if (builder.fixed.origin[e].kind != Origin::Kind::Stream) in[builder.fixed.edges[e].to].push_back(&builder.fixed.edges[e]);
  std::vector<std::vector<std::pair<std::size_t, const Use*>>> uses(n);
  for (std::size_t u = 0; u < rings.size(); ++u)
    for (const Use& use : rings[u]) uses[use.op.index()].push_back({u, &use});
  std::vector<Cycle> unit_free(rings.size(), 0);
  struct Stream {
    std::size_t next = 0;
    std::int64_t turn = 0;
    Cycle free = 0;
  };
  std::vector<Stream> streams(builder.program.streams.size());
  const auto iteration_of = [&](std::size_t g) { return streams[g].turn - builder.program.streams[g][streams[g].next].stage; };
  const auto advance = [&](std::size_t g) {
    if (++streams[g].next < builder.program.streams[g].size()) return;
    streams[g].next = 0;
    ++streams[g].turn;
  };
  const auto finished = [&](std::size_t g) {
    const auto& stream = builder.program.streams[g];
    return std::all_of(stream.begin(), stream.end(), [&](const StreamStep& s) { return streams[g].turn - s.stage >= iterations; });
  };
  /// Past the first and the last turns, in which ops that lag behind have nothing to do yet and others nothing more.
  const auto settle = [&](std::size_t g) {
    while (!finished(g) && (iteration_of(g) < 0 || iteration_of(g) >= iterations)) advance(g);
    return !finished(g);
  };
  for (std::size_t left = n * length; left > 0; --left) {
    std::size_t first = streams.size();
    Cycle earliest = std::numeric_limits<Cycle>::max();
    for (std::size_t g = 0; g < streams.size(); ++g) {
      if (!settle(g)) continue;
      const std::int64_t j = iteration_of(g);
      const std::size_t v = builder.program.streams[g][streams[g].next].op.index();
      Cycle at = streams[g].free;
      bool known = true;
      for (const RatioEdge* e : in[v]) {
        const std::int64_t from = j - e->tokens;
        if (from < 0 || from >= iterations) continue;
        if (e->from == v && from == j) continue;
        const Cycle begun = start[e->from][static_cast<std::size_t>(from)];
        known &= begun != kUnknown;
        at = std::max(at, begun + e->weight);
      }
      if (!known) continue;
      for (const auto& [u, use] : uses[v]) at = std::max(at, unit_free[u] - use->offset);
      if (at < earliest) {
        earliest = at;
        first = g;
      }
    }
    if (first == streams.size()) return std::nullopt;
    const OpId op = builder.program.streams[first][streams[first].next].op;
    start[op.index()][static_cast<std::size_t>(iteration_of(first))] = earliest;
    streams[first].free = earliest + problem.op(op).window;
    for (const auto& [u, use] : uses[op.index()]) unit_free[u] = earliest + use->offset + use->duration;
    advance(first);
  }
  return start;
}

/// The order on a unit when ops begin at these times: uses by their slot, with the turn in which they come.
Ring ordered(Ring ring, const std::vector<Cycle>& start, double period) {
  const auto begin = [&](const Use& use) { return static_cast<double>(start[use.op.index()] + use.offset); };
  if (ring.empty()) return ring;
  const double origin = begin(*std::min_element(ring.begin(), ring.end(), [&](const Use& a, const Use& b) { return begin(a) < begin(b); }));
  std::vector<std::pair<double, Use>> slots;
  for (Use use : ring) {
    const double turns = std::floor((begin(use) - origin) / period + 1e-9);
    use.stage = static_cast<std::int64_t>(turns);
    slots.push_back({begin(use) - origin - turns * period, use});
  }
  std::stable_sort(slots.begin(), slots.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ring.clear();
  for (const auto& [slot, use] : slots) ring.push_back(use);
  return ring;
}

struct Candidate {
  std::vector<Ring> rings;
  ProgramGraph graph;
  CycleRatio ratio;
};

bool better(const CycleRatio& a, const CycleRatio& b) {
  if (a.impossible != b.impossible) return b.impossible;
  return static_cast<__int128>(a.weight) * b.tokens < static_cast<__int128>(b.weight) * a.tokens;
}

class TurnSearch {
 public:
  TurnSearch(const Builder& builder, UnitSharing sharing) : builder_(builder), sharing_(sharing) {}

  Candidate rated(std::vector<Ring> rings) const {
    Candidate c{std::move(rings), builder_.fixed, {}};
    for (std::size_t u = 0; u < c.rings.size(); ++u) {
      add_ring(c.graph, c.rings[u], UnitId(u));
      if (sharing_ == UnitSharing::Pairs && builder_.problem.units[u].capacity > 1) builder_.add_small_uses(c.graph, UnitId(u));
    }
    c.ratio = max_cycle_ratio(builder_.problem.ops.size(), c.graph.edges);
    return c;
  }

  /// Neighbours on the limiting cycle change places (those on the tensor cores too, if `all`): the best swap each time,
  /// even if it makes the period longer for a while, but none that undoes one before.
  Candidate improved(const Candidate& given, bool all) const {
    Candidate best = given, now = given;
    std::set<std::tuple<std::size_t, std::size_t, std::size_t>> done;  // unit, who came first, who was put before it
    for (int failures = 0; failures < kPatience && !now.ratio.impossible;) {
      std::optional<Candidate> next;
      std::tuple<std::size_t, std::size_t, std::size_t> swapped;
      for (const std::size_t e : now.ratio.cycle) {
        const Origin& origin = now.graph.origin[e];
        const RatioEdge& edge = now.graph.edges[e];
        if (origin.kind != Origin::Kind::Unit || !builder_.crosses(OpId(edge.from), OpId(edge.to))) continue;
        if (!all && builder_.problem.unit(origin.unit).role == UnitRole::Tensor) continue;
        if (done.count({origin.unit.index(), edge.to, edge.from})) continue;
        Candidate found = rated(swap(now.rings, origin));
        if (next && !better(found.ratio, next->ratio)) continue;
        next = std::move(found);
        swapped = {origin.unit.index(), edge.from, edge.to};
      }
      if (!next) break;
      done.insert(swapped);
      now = *std::move(next);
      ++failures;
      if (!better(now.ratio, best.ratio)) continue;
      best = now;
      failures = 0;
    }
    return best;
  }

 private:
  static std::vector<Ring> swap(std::vector<Ring> rings, const Origin& origin) {
    Ring& ring = rings[origin.unit.index()];
    if (origin.place + 1 < ring.size()) {
      std::swap(ring[origin.place], ring[origin.place + 1]);
    } else {  // the last of this turn and the first of the next
      Use first = ring.front();
      --first.stage;
      ring.erase(ring.begin());
      ring.insert(ring.end() - 1, first);
    }
    return rings;
  }

  const Builder& builder_;
  const UnitSharing sharing_;
};

}  // namespace

std::string ProgramGraph::what(const Problem& problem, std::size_t edge) const {
  const Origin& from = origin[edge];
  switch (from.kind) {
    case Origin::Kind::Data: return from.value.valid() ? problem.value(from.value).name : "order";
    case Origin::Kind::Credit: return "ring " + problem.channel(from.channel).name;
    case Origin::Kind::Stream: return "issue";
    case Origin::Kind::Wait: return "wait";
    case Origin::Kind::Turn:
    case Origin::Kind::Unit: return problem.unit(from.unit).name;
  }
  return {};
}

ProgramGraph with_turns(const Problem& problem, const LoopProgram& program, const Schedule& groups, UnitSharing sharing) {
  const Builder builder(problem, program, groups);
  const CycleRatio unhindered = max_cycle_ratio(problem.ops.size(), builder.fixed.edges);
  if (unhindered.impossible) return builder.fixed;
  const TurnSearch turns(builder, sharing);
  std::vector<Ring> rings;
  for (std::size_t u = 0; u < problem.units.size(); ++u) rings.push_back(builder.uses_of(UnitId(u), sharing));
  const auto candidate = [&](const std::vector<Cycle>& starts, double period) {
    std::vector<Ring> order;
    for (const Ring& ring : rings) order.push_back(ordered(ring, starts, period));
    return turns.rated(std::move(order));
  };
  // As if units were free: an order in which nothing waits for itself.
  const Cycle least = std::max<Cycle>(1, ceil_div(unhindered.weight, unhindered.tokens));
  Candidate best =
      candidate(longest_paths(builder.fixed.edges, least, std::vector<Cycle>(problem.ops.size(), 0)), static_cast<double>(least));
  if (const auto starts = self_timed(builder, rings, kWarmUp + 2 * kMeasured)) {
    const auto snapshot = [&](std::size_t at) {
      std::vector<Cycle> times;
      for (const auto& op : *starts) times.push_back(op[at]);
      return times;
    };
    const std::vector<Cycle> before = snapshot(kWarmUp), after = snapshot(kWarmUp + kMeasured);
    double period = 1;
    for (std::size_t v = 0; v < before.size(); ++v) period = std::max(period, static_cast<double>(after[v] - before[v]) / kMeasured);
    for (const std::size_t at : {kWarmUp, kWarmUp + 1}) {
      Candidate found = candidate(snapshot(at), period);
      if (found.ratio.impossible) continue;
      const bool same = static_cast<double>(found.ratio.weight) <= (period + 1) * static_cast<double>(found.ratio.tokens);
      if (same) return turns.improved(std::move(found), false).graph;
      if (better(found.ratio, best.ratio)) best = std::move(found);
    }
  }
  return turns.improved(std::move(best), true).graph;
}

}  // namespace heddle::timing
