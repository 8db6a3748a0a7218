// A step is one pass over flat arrays; once the state repeats itself, whole periods are skipped.
#include "core/simulate/loop_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/base/saturate.h"
#include "core/simulate/loop_graph.h"
#include "core/simulate/tally.h"

namespace heddle {
namespace {

using Index = std::uint32_t;
constexpr Cycle kNever = -(Cycle{1} << 61);
constexpr Index kNoOp = static_cast<Index>(-1);
constexpr std::size_t kMostHistory = std::size_t{1} << 24;  ///< starts that are remembered, all ops together

class LoopRun {
 public:
  LoopRun(const Problem& problem, const Schedule& schedule, const SimulateOptions& options, const LoopGraph& graph, std::int64_t trips)
      : problem_(problem), schedule_(schedule), options_(options), graph_(graph), trips_(trips), tally_(problem, schedule, graph.events) {
    const std::size_t ops = problem.ops.size();
    const auto steps = static_cast<std::size_t>(graph.most_lag + graph.most_shift + 2);
    history_ = std::bit_ceil(steps);
    mask_ = history_ - 1;
    time_.assign(ops * history_, kNever);
    if (latencies_vary(options.jitter, problem)) extra_.assign(ops * history_, 0);
    for (const Op& op : problem.ops) {
      window_.push_back(op.window);
      jitters_.push_back(varies(options.jitter, op));
    }
    for (std::size_t v = 0; v < ops; ++v) group_.push_back(static_cast<Index>(schedule.ops[v].group.index()));
    reach_.assign(ops, 1);
    for (const LoopEdge& e : graph.edges) {
      const EventEdge& event = graph.events[e.event];
      reach_[e.from] = std::max(reach_[e.from], e.lag);
      late_.push_back(jitters_[e.from] && waits_for_result(problem, event));
    }
    last_cross_.assign(graph.components, -1);
    half_.assign(ops, 0);
  }

  static std::size_t memory(const LoopGraph& graph, std::size_t ops) { return sat_fits(graph.most_lag + graph.most_shift + 2) * ops; }

  /// Nothing when the run neither ends nor repeats itself within `most_steps`.
  std::optional<Simulation> run(std::int64_t most_steps) {
    const std::int64_t last = trips_ + graph_.most_shift;
    // From here on everything that an op waits for exists.
    std::int64_t before = std::max<std::int64_t>(graph_.most_lag, options_.timeline);
    for (const LoopEdge& e : graph_.edges)
      if (graph_.events[e.event].kind == EventEdge::Kind::Credit)
        before = std::max<std::int64_t>(before, schedule_.depth(graph_.events[e.event].channel));
    const std::int64_t fast_from = graph_.most_shift + before;
    const std::int64_t half = trips_ / 2;
    std::int64_t checked = fast_from;
    for (std::int64_t w = 0; w < last; ++w) {
      if (w >= most_steps && !exact_ && last > most_steps + graph_.most_shift) return std::nullopt;
      if (w < fast_from || w >= trips_) {
        slow_step(w);
      } else {
        extra_.empty() ? fast_step<false>(w) : fast_step<true>(w);
        if (extra_.empty() && !exact_) w = look_for_repetition(w, checked);
      }
      if (w >= half && w <= half + graph_.most_shift)
        for (std::size_t v = 0; v < half_.size(); ++v)
          if (w - graph_.shift[v] == half) half_[v] = time_[at(v, w)];
    }
    return finish(half);
  }

 private:
  static std::size_t sat_fits(std::int64_t steps) {
    return std::bit_ceil(static_cast<std::size_t>(std::min<std::int64_t>(steps, 1 << 30)));
  }

  std::size_t at(std::size_t op, std::int64_t step) const { return op * history_ + (static_cast<std::size_t>(step) & mask_); }

  struct Start {
    Cycle turn = kNever, ready = kNever;
    Index behind = kNoOp;  ///< the edge that was satisfied last, of those that are not the stream's
    Cycle time() const { return std::max({Cycle{0}, turn, ready}); }
  };

  struct Together {
    Start start;
    Index position;
    bool its_turn;
  };

  template <bool kJitter>
  Start start_of(Index position, std::int64_t w) const {
    Start s;
    const LoopEdge* const edges = graph_.edges.data();
    const Index first = graph_.first[position], wait = graph_.first_wait[position], end = graph_.first[position + 1];
    const auto step = static_cast<std::size_t>(w);
    for (Index e = first; e < wait; ++e)
      s.turn = std::max(s.turn, time_[edges[e].from * history_ + ((step - edges[e].lag) & mask_)] + edges[e].weight);
    for (Index e = wait; e < end; ++e) {
      const std::size_t source = edges[e].from * history_ + ((step - edges[e].lag) & mask_);
      Cycle due = time_[source] + edges[e].weight;
      if constexpr (kJitter)
        if (late_[e]) due += extra_[source];
      if (due > s.ready) s.ready = due, s.behind = e;
    }
    return s;
  }

  void account(Index v, std::int64_t w, const Start& s) {
    const Cycle time = s.time();
    const bool waited = tally_.arrive(group_[v], time);
    if (waited) {
      const LoopEdge& edge = graph_.edges[s.behind];
      tally_.blame(edge.event);
      if (edge.crosses) last_cross_[graph_.component[v]] = w;
    }
    tally_.work(group_[v], time, window_[v]);
    if (s.ready > kNever) tally_.hold(v, s.turn - std::max<Cycle>(s.ready, 0));
  }

  void draw(Index v, std::int64_t w) {
    extra_[at(v, w)] = jitters_[v] ? lateness(options_.jitter, problem_.ops[v], v, static_cast<std::uint64_t>(w - graph_.shift[v])) : 0;
  }

  template <bool kJitter>
  void fast_step(std::int64_t w) {
    for (std::size_t b = 0; b + 1 < graph_.blocks.size(); ++b) {
      const Index begin = graph_.blocks[b], end = graph_.blocks[b + 1];
      if (end - begin > 1) {
        settle(begin, end, w, [&](Index position) { return start_of<kJitter>(position, w); });
        continue;
      }
      const Index v = graph_.order[begin];
      if constexpr (kJitter) draw(v, w);
      const Start s = start_of<kJitter>(begin, w);
      time_[at(v, w)] = s.time();
      account(v, w, s);
    }
  }

  /// Ops of a step that wait for each other without anybody taking time: repeated until nothing moves.
  template <class StartOf>
  void settle(Index begin, Index end, std::int64_t w, StartOf&& start_of) {
    for (Index i = begin; i < end; ++i) {
      if (!real(graph_.order[i], w)) continue;
      if (!extra_.empty()) draw(graph_.order[i], w);
      time_[at(graph_.order[i], w)] = kNever;
    }
    for (Index pass = begin; pass <= end; ++pass) {
      bool moved = false;
      for (Index i = begin; i < end; ++i) {
        const Index v = graph_.order[i];
        if (!real(v, w)) continue;
        const Cycle time = start_of(i).time();
        moved = moved || time != time_[at(v, w)];
        time_[at(v, w)] = time;
      }
      if (!moved) break;
    }
    // Of those that start together, first whoever did not wait for its turn: it is what the others' stream stood still for.
    together_.clear();
    for (Index i = begin; i < end; ++i) {
      if (!real(graph_.order[i], w)) continue;
      const Start s = start_of(i);
      together_.push_back({s, i, s.ready < s.time()});
    }
    std::sort(together_.begin(), together_.end(), [](const Together& a, const Together& b) {
      return std::tuple(a.start.time(), a.its_turn, a.position) < std::tuple(b.start.time(), b.its_turn, b.position);
    });
    for (const Together& t : together_) account(graph_.order[t.position], w, t.start);
  }

  bool real(Index op, std::int64_t w) const { return w >= graph_.shift[op] && w - graph_.shift[op] < trips_; }

  /// The first and last iterations, where some of what an op would wait for does not exist.
  Start slow_start(Index position, std::int64_t w) const {
    Start s;
    const Index v = graph_.order[position];
    const std::int64_t iteration = w - graph_.shift[v];
    for (Index e = graph_.first[position]; e < graph_.first[position + 1]; ++e) {
      const EventEdge& event = graph_.events[graph_.edges[e].event];
      const std::int64_t other = iteration - event.tokens;
      // A slot that is filled for the first time is free, whatever its readers do.
      if (event.kind == EventEdge::Kind::Credit && iteration < schedule_.depth(event.channel)) continue;
      Cycle due = kNever;
      if (other >= 0 && other < trips_) {
        const std::size_t source = at(graph_.edges[e].from, w - graph_.edges[e].lag);
        due = time_[source] + event.weight + (late_[e] ? extra_[source] : 0);
      } else if (event.ring >= 0) {
        due = along_ring(graph_.edges[e].event, other);
      } else if (event.kind == EventEdge::Kind::Unit && other >= trips_) {
        due = time_[at(graph_.edges[e].from, trips_ - 1 + graph_.shift[graph_.edges[e].from])] + event.weight;
      }
      if (event.kind == EventEdge::Kind::Stream)
        s.turn = std::max(s.turn, due);
      else if (due > s.ready)
        s.ready = due, s.behind = e;
    }
    return s;
  }

  Cycle along_ring(Index edge, std::int64_t iteration) const {
    const RingSource source = nearest_on_ring(graph_.events, graph_.ring_before, edge, iteration, trips_);
    return source.op.valid() ? time_[at(source.op.index(), source.iteration + graph_.shift[source.op.index()])] + source.weight : kNever;
  }

  void slow_step(std::int64_t w) {
    for (std::size_t b = 0; b + 1 < graph_.blocks.size(); ++b) {
      const Index begin = graph_.blocks[b], end = graph_.blocks[b + 1];
      if (end - begin > 1) {
        settle(begin, end, w, [&](Index position) { return slow_start(position, w); });
        for (Index i = begin; i < end; ++i) record(graph_.order[i], w);
        continue;
      }
      const Index v = graph_.order[begin];
      if (!real(v, w)) continue;
      if (!extra_.empty()) draw(v, w);
      const Start s = slow_start(begin, w);
      time_[at(v, w)] = s.time();
      account(v, w, s);
      record(v, w);
    }
  }

  void record(Index v, std::int64_t w) {
    const std::int64_t iteration = w - graph_.shift[v];
    if (iteration < 0 || iteration >= std::min<std::int64_t>(trips_, options_.timeline)) return;
    const Cycle start = time_[at(v, w)], late = extra_.empty() ? 0 : extra_[at(v, w)];
    timeline_.push_back({OpId(v), iteration, schedule_.ops[v].group, start, start, start + problem_.ops[v].latency + late});
  }

  // ---- Repetition: Brent's method on everything that the future depends on.

  /// Every component has gone on by the same amount for all its ops since the checkpoint, and what comes from faster
  /// components has not mattered: it comes earlier and earlier.
  bool repeats(std::int64_t w) {
    const std::size_t ops = problem_.ops.size();
    gone_.assign(graph_.components, kNever);
    for (std::size_t v = 0; v < ops; ++v) {
      Cycle& gone = gone_[graph_.component[v]];
      for (std::int64_t h = 0; h < reach_[v]; ++h) {
        const Cycle since = time_[at(v, w - h)] - saved_time_[at(v, saved_ - h)];
        if (gone == kNever) gone = since;
        if (since != gone) return false;
      }
      if (tally_.clock(group_[v]) - saved_tally_.clock(group_[v]) != gone) return false;
    }
    for (std::size_t i = 0; i < ops; ++i)
      for (Index e = graph_.first[i]; e < graph_.first[i + 1]; ++e) {
        if (!graph_.edges[e].crosses) continue;
        const Index to = graph_.component[graph_.order[i]], from = graph_.component[graph_.edges[e].from];
        if (gone_[to] < gone_[from] || (gone_[to] > gone_[from] && last_cross_[to] > saved_)) return false;
      }
    return true;
  }

  /// Looks at step w; when the run repeats itself, skips as many periods as fit and returns the step they lead to.
  std::int64_t look_for_repetition(std::int64_t w, std::int64_t& checked) {
    if (saved_ >= 0 && repeats(w)) {
      exact_ = true;
      const std::int64_t length = w - saved_, times = (trips_ - 1 - w) / length;
      period_.weight = gone_.empty() ? 0 : std::max<Cycle>(0, *std::max_element(gone_.begin(), gone_.end()));
      period_.tokens = length;
      const std::int64_t common = std::gcd(period_.weight, period_.tokens);
      period_.weight /= common;
      period_.tokens /= common;
      period_.exact = true;
      period_.from = std::max<std::int64_t>(0, saved_ - graph_.most_shift);
      if (times > 0) skip(w, length, times);
      skipped_ = times * length;
      return w + times * length;
    }
    if (saved_ < 0 || w - saved_ >= checked) {
      if (saved_ >= 0)
        checked *= 2;
      else
        checked = 8;
      saved_ = w;
      saved_time_ = time_;
      saved_tally_ = tally_;
    }
    return w;
  }

  void skip(std::int64_t w, std::int64_t length, std::int64_t times) {
    saved_time_ = time_;
    for (std::size_t v = 0; v < problem_.ops.size(); ++v)
      for (std::int64_t h = 0; h <= static_cast<std::int64_t>(mask_); ++h)
        time_[at(v, w - h + length * times)] = saved_time_[at(v, w - h)] + gone_[graph_.component[v]] * times;
    tally_.repeat(saved_tally_, times);
  }

  Simulation finish(std::int64_t half) {
    Simulation result;
    result.trips = trips_;
    result.unordered = graph_.dropped;
    const std::size_t ops = problem_.ops.size();
    for (std::size_t v = 0; v < ops; ++v) {
      const Op& op = problem_.ops[v];
      const Cycle tail = end_of(op);
      for (std::int64_t i = trips_ - 1; i >= 0 && i > trips_ - 2 - graph_.most_lag; --i) {
        const std::size_t source = at(v, i + graph_.shift[v]);
        result.cycles = std::max(result.cycles, time_[source] + std::max(tail, extra_.empty() ? 0 : op.latency + extra_[source]));
      }
    }
    result.period = period_;
    if (!exact_) {
      const std::int64_t span = trips_ - 1 - half;
      result.period = {result.cycles, trips_, false, 0};
      if (span > 0) {
        Cycle most = 0;
        for (std::size_t v = 0; v < ops; ++v) most = std::max(most, time_[at(v, trips_ - 1 + graph_.shift[v])] - half_[v]);
        result.period = {most, span, false, half};
      }
    }
    result.simulated_ops = sat_mul(trips_ - skipped_, static_cast<std::int64_t>(ops));
    tally_.report(result);
    std::stable_sort(timeline_.begin(), timeline_.end(), [](const SimulatedOp& a, const SimulatedOp& b) { return a.start < b.start; });
    result.timeline = std::move(timeline_);
    return result;
  }

  const Problem& problem_;
  const Schedule& schedule_;
  const SimulateOptions& options_;
  const LoopGraph& graph_;
  const std::int64_t trips_;
  Tally tally_;
  std::size_t history_ = 1, mask_ = 0;
  std::vector<Cycle> time_, extra_;  ///< per op a ring over steps: start, and how much longer its latency was
  std::vector<Cycle> window_;
  std::vector<Index> group_, reach_;
  std::vector<char> jitters_, late_;  ///< per op; per edge
  std::vector<Together> together_;
  std::vector<Cycle> half_;  ///< starts of the iteration in the middle
  std::vector<SimulatedOp> timeline_;
  std::vector<std::int64_t> last_cross_;  ///< per component: the last step in which it waited for another one
  std::int64_t saved_ = -1, skipped_ = 0;
  std::vector<Cycle> saved_time_, gone_;
  Tally saved_tally_;
  MeasuredPeriod period_;
  bool exact_ = false;
};

std::string describe(const Problem& problem, const LoopGraph& graph) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(graph.deadlock.size(), kShown); ++i) {
    const EventEdge& e = graph.events[graph.deadlock[graph.deadlock.size() - 1 - i]];
    text += fmt::format("{}{} waits for {} ({})", i ? ", " : "deadlock: ", problem.op(e.to).name, problem.op(e.from).name, e.what);
  }
  if (graph.deadlock.size() > kShown) text += fmt::format(" and {} more", graph.deadlock.size() - kShown);
  return text;
}

}  // namespace

void extrapolate(const Problem& problem, const Schedule& schedule, std::int64_t trips, Simulation& result) {
  const std::int64_t missing = trips - result.trips;
  const auto more = static_cast<Cycle>(static_cast<__int128>(missing) * result.period.weight / result.period.tokens);
  const auto scaled = [](Cycle part, Cycle whole, Cycle total) {
    return whole > 0 ? static_cast<Cycle>(static_cast<__int128>(part) * total / whole) : 0;
  };
  std::vector<Cycle> busy(result.groups.size(), 0);
  for (std::size_t v = 0; v < problem.ops.size(); ++v) busy[schedule.ops[v].group.index()] += problem.ops[v].window * missing;
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    GroupTime& group = result.groups[g];
    busy[g] = std::min(busy[g], more);
    group.busy += busy[g];
    const Cycle standing = more - busy[g], stood = std::accumulate(group.stalls.begin(), group.stalls.end(), Cycle{0});
    Cycle given = 0;
    for (Cycle& stall : group.stalls) {
      const Cycle part = scaled(stall, stood, standing);
      stall += part;
      given += part;
    }
    group.idle += standing - given;
  }
  for (OpTime& op : result.ops) {
    for (Cycle& stall : op.stalls) stall = scaled(stall, result.trips, trips);
    op.held = scaled(op.held, result.trips, trips);
    op.queued = scaled(op.queued, result.trips, trips);
  }
  for (Wait& wait : result.waits) wait.cycles = scaled(wait.cycles, result.trips, trips);
  result.cycles += more;
  result.trips = trips;
  result.extrapolated = true;
}

Simulation run_scheduled(const Problem& problem, const Schedule& schedule, const SimulateOptions& options) {
  Simulation nothing;
  const LoopGraph graph = loop_graph(problem, schedule, options.trips);
  nothing.groups.resize(schedule.groups.size());
  nothing.ops.resize(problem.ops.size());
  if (!graph.deadlock.empty()) {
    nothing.deadlock = true;
    nothing.stuck = graph.events[graph.deadlock.back()].to;
    nothing.fault = describe(problem, graph);
    return nothing;
  }
  if (LoopRun::memory(graph, problem.ops.size()) > kMostHistory) {
    nothing.fault = fmt::format("{} iterations overlap: too many to simulate", graph.most_shift + graph.most_lag);
    return nothing;
  }
  Cycle weights = 1;
  for (const EventEdge& e : graph.events) weights = sat_add(weights, std::max<Cycle>(e.weight, 0) * 2);
  const std::int64_t trips = std::max<std::int64_t>(1, std::min(options.trips, (Cycle{1} << 60) / weights));
  const std::int64_t most_steps =
      std::max<std::int64_t>(2, options.most_ops / std::max<std::int64_t>(1, static_cast<std::int64_t>(problem.ops.size())));
  if (std::optional<Simulation> whole = LoopRun(problem, schedule, options, graph, trips).run(most_steps)) return std::move(*whole);
  Simulation part = *LoopRun(problem, schedule, options, graph, most_steps).run(most_steps);
  extrapolate(problem, schedule, trips, part);
  return part;
}

}  // namespace heddle
