// Every stream has a head: the next op of its program. Of the heads whose time is known the earliest goes first; since nothing
// takes negative time, no head that becomes known later can be earlier.
#include "core/simulate/sm_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>

#include "core/simulate/loop_graph.h"
#include "core/simulate/op_costs.h"
#include "core/simulate/sm_state.h"
#include "core/simulate/tally.h"
#include "core/simulate/unit_queue.h"

namespace heddle {
namespace {

using Index = std::uint32_t;
using Kind = CtaEdge::Kind;
constexpr std::size_t kMostStarts = std::size_t{1} << 24;
constexpr std::int64_t kMostStages = 4096;  // every tile walks through them

class Sm {
 public:
  Sm(const CtaProgram& program, const SmWork& work, const SimulateOptions& options)
      : program_(program),
        work_(work),
        options_(options),
        costs_(op_costs(program, options)),
        tally_(program.problem, program.schedule, program.events) {
    const Problem& problem = program.problem;
    half_.assign(problem.ops.size(), 0);
    late_ = half_;
    ring_before_ = ring_predecessors(program.events);
    for (const Unit& unit : problem.units) units_.emplace_back(unit.capacity);
    readers_.resize(problem.ops.size());
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      for (Index e = program.first[v]; e < program.first[v + 1]; ++e) {
        reach_ = std::max(reach_, std::min<std::int64_t>(program.edges[e].tokens, kMostReach));
        readers_[program.edges[e].from].emplace_back(static_cast<Index>(v), e);
      }
    grow(64);
    const std::size_t ctas =
        work.persistent ? work.queues.size() : std::min<std::size_t>(static_cast<std::size_t>(work.ctas), work.queues[0].size());
    for (std::size_t c = 0; c < ctas; ++c) {
      ctas_.emplace_back();
      ctas_.back().count.assign(problem.ops.size(), 0);
      ctas_.back().time.assign(problem.ops.size() * history_, kNotYet);
      if (latencies_vary(options.jitter, problem)) ctas_.back().extra.assign(problem.ops.size() * history_, 0);
      for (std::size_t g = 0; g < program.streams.size(); ++g) {
        SmStream s;
        s.cta = static_cast<Index>(c);
        s.group = static_cast<Index>(g);
        streams_.push_back(s);
        lanes_.push_back({s.cta, s.group, {}});
      }
    }
    for (std::size_t c = 0; c < ctas_.size(); ++c) {
      if (work.persistent)
        for (const std::int64_t trips : work.queues[c]) add_tile(ctas_[c], trips);
      else
        take_tile(ctas_[c]);
      ctas_[c].open = program.streams.size();
    }
    for (SmStream& s : streams_) settle_head(s);
    alone_ = ctas_.size() == 1 && !latencies_vary(options.jitter, problem) && work.queues[0].size() == 1;
    while (beat_ + 1 < program.streams.size() && program.streams[beat_].loop.empty()) ++beat_;
    for (const CtaEdge& edge : program.edges) settled_ = std::max<std::int64_t>(settled_, edge.tokens + edge.distance);
    std::int64_t most_stages = 1;
    for (const CtaStream& stream : program.streams) most_stages = std::max(most_stages, stream.stages);
    settled_ += 2 * most_stages;
    used_.assign(units_.size(), 0);
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      if (program.sections[v] == CtaSection::Loop)
        for (const UnitUse& use : problem.ops[v].uses) used_[use.unit.index()] = 1;
  }

  SmRun run() {
    SmRun result;
    constexpr std::int64_t kBetweenLooks = 1 << 16;  // ops, a few dozen milliseconds; what takes less has an answer in any case
    while (simulated_ < options_.most_ops && fault_.empty()) {
      if (simulated_ > 0 && simulated_ % kBetweenLooks == 0 && options_.stop.stop_requested()) {
        fault_ = kStopped;
        break;
      }
      SmStream* next = nullptr;
      Lane* lane = nullptr;
      // Of those that ask at the same time, whoever was served longest ago.
      std::pair first{std::numeric_limits<Cycle>::max(), kNotYet};
      for (SmStream& s : streams_) {
        if (s.done) continue;
        if (!s.known && (ctas_[s.cta].count[s.missing_op] <= s.missing || !look_at_head(s))) continue;
        const std::pair time{s.part > 0 ? s.next : std::max(s.turn, s.ready), s.served};
        if (time < first) first = time, next = &s;
      }
      for (Lane& l : lanes_)
        if (!l.ops.empty() && std::pair{l.ops.front().next, l.served} < first) first = {l.ops.front().next, l.served}, lane = &l;
      if (lane) {
        serve(*lane);
        continue;
      }
      if (!next) break;
      const bool beat =
          next == &streams_[beat_] && next->section == CtaSection::Loop && next->position == 0 && next->part == 0 && !period_.exact;
      commit(*next);
      if (beat && alone_) look_for_repetition();
    }
    return finish();
  }

 private:
  static constexpr std::int64_t kMostReach = 1 << 20;

  std::int64_t trips(const Cta& cta, std::size_t tile) const { return cta.base[tile + 1] - cta.base[tile]; }

  bool take_tile(Cta& cta) {
    if (taken_ == work_.queues[0].size()) return false;
    add_tile(cta, work_.queues[0][taken_++]);
    return true;
  }
  static void add_tile(Cta& cta, std::int64_t trips) { cta.base.push_back(cta.base.back() + std::max<std::int64_t>(1, trips)); }

  std::size_t at(Index op, std::int64_t number) const { return op * history_ + (static_cast<std::size_t>(number) & (history_ - 1)); }

  // ---- Repetition: Brent's method, once per window of one stream, on everything that the future depends on.

  struct Snapshot {
    std::vector<SmStream> streams;
    std::vector<std::int64_t> count;
    std::vector<Cycle> time;
    std::vector<UnitQueue> units;
    std::vector<Lane> lanes;
    std::size_t history = 0;
  };

  bool repeats() const {
    const Cta& cta = ctas_[0];
    const std::int64_t windows = streams_[beat_].window - saved_.streams[beat_].window;
    const Cycle shift = streams_[beat_].last_issue - saved_.streams[beat_].last_issue;
    if (saved_.history != history_ || windows <= 0) return false;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const SmStream &now = streams_[i], &then = saved_.streams[i];
      if (program_.streams[i].loop.empty()) continue;
      if (now.section != CtaSection::Loop || then.section != CtaSection::Loop || now.position != then.position) return false;
      if (now.part != then.part || (now.part > 0 && now.next - then.next != shift)) return false;
      if (!same_service(now.served, then.served, shift)) return false;
      if (!lanes_[i].repeats(saved_.lanes[i], windows, shift)) return false;
      if (now.window - then.window != windows || now.last_issue - then.last_issue != shift || now.window_end - then.window_end != shift)
        return false;
    }
    for (std::size_t u = 0; u < units_.size(); ++u)
      if (used_[u] && !units_[u].repeats(saved_.units[u], shift)) return false;
    for (std::size_t v = 0; v < costs_.ops.size(); ++v) {
      if (program_.sections[v] != CtaSection::Loop) continue;
      if (cta.count[v] - saved_.count[v] != windows) return false;
      // As far back as somebody may still look.
      std::int64_t needed = cta.count[v] - 1;
      for (const auto& [reader, e] : readers_[v])
        if (program_.sections[reader] == CtaSection::Loop) needed = std::min(needed, cta.count[reader] - program_.edges[e].tokens);
      for (std::int64_t h = 1; h <= std::min(cta.count[v] - needed, saved_.count[v]); ++h)
        if (cta.time[at(static_cast<Index>(v), cta.count[v] - h)] - saved_.time[at(static_cast<Index>(v), saved_.count[v] - h)] != shift)
          return false;
    }
    return true;
  }

  void look_for_repetition() {
    const SmStream& beat = streams_[beat_];
    if (beat.window < settled_) return;
    if (!saved_.streams.empty() && repeats()) {
      const std::int64_t windows = beat.window - saved_.streams[beat_].window;
      const Cycle shift = beat.last_issue - saved_.streams[beat_].last_issue;
      const std::int64_t common = std::max<std::int64_t>(1, std::gcd(shift, windows));
      period_ = {shift / common, windows / common, true, saved_.streams[beat_].window};
      return;
    }
    if (!saved_.streams.empty() && beat.window - saved_.streams[beat_].window < patience_) return;
    patience_ = saved_.streams.empty() ? 8 : 2 * patience_;
    saved_ = {streams_, ctas_[0].count, ctas_[0].time, units_, lanes_, history_};
  }

  // ---- The program of a stream, op by op.

  /// Makes the op at the stream's place its head, or the next one that exists; false at the end of the tile.
  bool find_head(SmStream& s) {
    const Cta& cta = ctas_[s.cta];
    const CtaStream& code = program_.streams[s.group];
    if (s.section == CtaSection::Prologue) {
      if (s.position < code.prologue.size()) return set_head(s, code.prologue[s.position], static_cast<std::int64_t>(s.tile));
      s.section = CtaSection::Loop;
      s.position = 0;
      s.window = 0;
    }
    if (s.section == CtaSection::Loop) {
      const std::int64_t count = trips(cta, s.tile), windows = code.loop.empty() ? 0 : count + code.stages - 1;
      for (; s.window < windows; ++s.window, s.position = 0)
        for (; s.position < code.loop.size(); ++s.position) {
          const std::int64_t iteration = s.window - code.loop[s.position].stage;
          if (iteration >= 0 && iteration < count) return set_head(s, code.loop[s.position].op, cta.base[s.tile] + iteration);
        }
      s.section = CtaSection::Epilogue;
      s.position = 0;
    }
    if (s.position < code.epilogue.size()) return set_head(s, code.epilogue[s.position], static_cast<std::int64_t>(s.tile));
    return false;
  }

  bool set_head(SmStream& s, Index op, std::int64_t number) {
    s.op = op;
    s.number = number;
    s.known = false;
    look_at_head(s);
    return true;
  }

  void settle_head(SmStream& s) {
    while (!find_head(s)) {
      Cta& cta = ctas_[s.cta];
      s.section = CtaSection::Prologue;
      s.position = 0;
      if (work_.persistent) {
        if (++s.tile + 1 < cta.base.size()) continue;
        s.done = true;
        return;
      }
      s.done = true;
      leave(cta);
      return;
    }
  }

  void leave(Cta& cta) {
    if (--cta.open == 0) next_cta(cta);
  }

  /// The CTA is done: another one starts in its place.
  void next_cta(Cta& cta) {
    const auto number = static_cast<Index>(&cta - ctas_.data());
    if (number == 0 && first_tile_ == 0) first_tile_ = cta.end;
    if (!take_tile(cta)) return;
    cta.open = program_.streams.size();
    for (SmStream& s : streams_) {
      if (s.cta != number) continue;
      if (number == 0) tally_.rest(s.group, cta.end);
      s.last_issue = s.window_end = cta.end;
      s.done = false;
      ++s.tile;
    }
    for (SmStream& s : streams_)
      if (s.cta == number) settle_head(s);
  }

  // ---- When the head can go.

  bool look_at_head(SmStream& s) {
    const Cta& cta = ctas_[s.cta];
    const OpCost& cost = costs_.ops[s.op];
    s.turn = cost.blocking ? std::max(s.last_issue, s.window_end) : s.last_issue;
    s.ready = kNotYet;
    s.behind = kNobody;
    const std::int64_t base = cta.base[s.tile], count = trips(cta, s.tile);
    for (Index e = program_.first[s.op]; e < program_.first[s.op + 1]; ++e) {
      const CtaEdge& edge = program_.edges[e];
      std::int64_t number = s.number - edge.tokens;
      Index from = edge.from;
      Cycle weight = edge.weight;
      switch (edge.kind) {
        case Kind::Loop:
          if (number < base || number >= base + count) {
            const RingSource other = on_unit(edge, number - base, count);
            if (!other.op.valid()) continue;
            from = static_cast<Index>(other.op.index());
            weight = other.weight;
            number = base + other.iteration;
          }
          break;
        case Kind::Credit:
          if (number < 0 || !read_at_all(cta, s.tile, number, edge.distance)) continue;
          break;
        case Kind::First:
          if (s.number - base >= edge.tokens) continue;
          number = static_cast<std::int64_t>(s.tile);
          break;
        case Kind::Last: number = base + count - 1; break;
        case Kind::Same: number = static_cast<std::int64_t>(s.tile); break;
        case Kind::Before:
          if (s.tile == 0) continue;
          number = program_.sections[edge.from] == CtaSection::Loop ? base - 1 : static_cast<std::int64_t>(s.tile) - 1;
          break;
        case Kind::Slot: {
          if (number < 0 || number >= base) continue;
          std::size_t tile = s.tile;
          while (cta.base[tile] > number) --tile;
          if (number != cta.base[tile + 1] - 1) continue;
          number = static_cast<std::int64_t>(tile);
          break;
        }
      }
      if (cta.count[from] <= number) {
        s.waits_for = e;
        s.missing_op = from;
        s.missing = number;
        return false;
      }
      const std::size_t source = at(from, number);
      const Cycle due = cta.time[source] + weight + (edge.late && !cta.extra.empty() ? cta.extra[source] : 0);
      if (due > s.ready) s.ready = due, s.behind = edge.event;
    }
    if (s.op == costs_.first_product[s.group] && s.number == base && (s.tile == 0 || !work_.persistent))
      s.ready = std::max(s.ready, s.turn) + costs_.apart[s.group];
    s.known = true;
    return true;
  }

  /// Whose turn on the unit it was, where the op that the edge names has no such iteration.
  RingSource on_unit(const CtaEdge& edge, std::int64_t iteration, std::int64_t count) const {
    const EventEdge& event = program_.events[edge.event];
    if (event.kind != EventEdge::Kind::Unit) return {};
    if (event.ring >= 0) return nearest_on_ring(program_.events, ring_before_, edge.event, iteration, count);
    if (iteration < count) return {};
    return {event.from, count - 1, event.weight};
  }

  /// Whether the reader's iteration belongs to the tile that wrote what it would read.
  static bool read_at_all(const Cta& cta, std::size_t tile, std::int64_t number, std::int64_t distance) {
    const std::int64_t written = number - distance;
    if (written < 0) return false;
    while (cta.base[tile] > written) --tile;
    return number < cta.base[tile + 1];
  }

  // ---- It goes.

  /// Takes the units for one part, as soon as they are free. `use`: the last one that it had to wait for, where there was one.
  Cycle take(const OpCost& cost, Cycle asked, std::int64_t part, Index& use) {
    Cycle start = asked;
    for (bool moved = true; moved;) {
      moved = false;
      for (Index u = cost.first_use; u < cost.last_use; ++u) {
        const Cycle begin = units_[costs_.uses[u].unit].earliest(start + costs_.uses[u].offset, costs_.uses[u].amount);
        if (begin <= start + costs_.uses[u].offset) continue;
        start = begin - costs_.uses[u].offset;
        use = u;
        moved = true;
      }
    }
    for (Index u = cost.first_use; u < cost.last_use; ++u) {
      const Cycle duration = cost.of(part, costs_.uses[u].duration);
      if (duration > 0) units_[costs_.uses[u].unit].take(start + costs_.uses[u].offset, duration, costs_.uses[u].amount);
    }
    return start;
  }

  void commit(SmStream& s) {
    const OpCost& cost = costs_.ops[s.op];
    if (s.part == 0) {
      s.asked = s.next = std::max({Cycle{0}, s.turn, s.ready});
      s.use = kNobody;
    }
    Cta& cta = ctas_[s.cta];
    if (cost.laned) {
      go_on(s, s.asked);
      auto& ops = lanes_[static_cast<std::size_t>(&s - streams_.data())].ops;
      ops.push_back({s.op, s.number, s.tile == 0, s.asked, ops.empty() ? s.asked : kLater, 0});
      ++cta.open;
    } else {
      const Cycle begin = take(cost, s.next, s.part, s.use);
      if (cost.parts > 1) s.served = begin;
      if (s.part + 1 < cost.parts) {
        s.next = begin + cost.of(s.part, cost.whole);
        ++s.part;
        return;
      }
      const Cycle start = begin - cost.before(s.part, cost.whole), issue = cost.queues ? s.asked : start;
      go_on(s, issue);
      started({s.cta, s.group, s.op, s.number, s.tile == 0, issue, start});
    }
    ++s.position;
    s.part = 0;
    settle_head(s);
  }

  /// The stream goes on behind its head.
  void go_on(SmStream& s, Cycle issue) {
    const OpCost& cost = costs_.ops[s.op];
    s.last_issue = issue;
    if (cost.blocking) s.window_end = issue + cost.window;
    if (s.cta != 0) return;
    if (s.behind == kNobody)
      tally_.rest(s.group, s.asked);
    else if (tally_.arrive(s.group, s.asked))
      tally_.blame(s.behind);
    if (tally_.arrive(s.group, issue) && s.use != kNobody) tally_.blame(program_.unit_event[s.op] + s.use - cost.first_use);
    tally_.work(s.group, issue, cost.window);
    if (s.ready > kNotYet) tally_.hold(s.op, s.turn - std::max<Cycle>(s.ready, 0));
  }

  /// One part of the lane's first op.
  void serve(Lane& lane) {
    Lane::Issued& first = lane.ops.front();
    const OpCost& cost = costs_.ops[first.op];
    Index use = kNobody;
    const Cycle begin = lane.served = take(cost, first.next, first.part, use);
    first.next = begin + cost.of(first.part, cost.whole);
    if (++first.part < cost.parts) return;
    const Lane::Issued done = first;
    lane.ops.pop_front();
    if (!lane.ops.empty()) lane.ops.front().next = std::max(lane.ops.front().issue, done.next);
    started({lane.cta, lane.group, done.op, done.number, done.first_tile, done.issue, done.next - cost.whole});
    leave(ctas_[lane.cta]);
  }

  /// An op, and where and when it runs. Of an op in parts the start is as late as its end says.
  struct Start {
    Index cta, group, op;
    std::int64_t number;
    bool first_tile;
    Cycle issue, start;
  };
  /// An op's start is known.
  void started(const Start& known) {
    const auto& [cta_number, group, op, number, first_tile, issue, start] = known;
    Cta& cta = ctas_[cta_number];
    const OpCost& cost = costs_.ops[op];
    if (cta.count[op] != number) fault_ = fmt::format("{} is out of order", program_.problem.ops[op].name);
    if ((number & static_cast<std::int64_t>(history_ / 2 - 1)) == 0) make_room(cta_number, op, number);
    const std::size_t place = at(op, number);
    cta.time[place] = start;
    ++cta.count[op];
    ++simulated_;
    Cycle extra = 0;
    if (!cta.extra.empty()) {
      extra = cost.jitters ? lateness(options_.jitter, program_.problem.ops[op], op, static_cast<std::uint64_t>(number)) : 0;
      cta.extra[place] = extra;
    }
    const Cycle end = start + std::max(cost.end, cost.latency + extra);
    cta.end = std::max(cta.end, end);
    end_ = std::max(end_, end);
    if (cta_number != 0) return;
    tally_.queue(op, start - issue);
    const bool looped = program_.sections[op] == CtaSection::Loop;
    if (first_tile && looped) {
      if (number == half_way()) half_[op] = start;
      if (number == late()) late_[op] = start;
    }
    if (work_.persistent && first_tile) first_tile_ = std::max(first_tile_, end);
    // What follows the loop is shown only where all of the loop is: it would be far away.
    const bool shown =
        looped ? number < options_.timeline : program_.sections[op] == CtaSection::Prologue || trips(ctas_[0], 0) <= options_.timeline;
    if (options_.timeline > 0 && first_tile && shown)
      timeline_.push_back({OpId(op), looped ? number : 0, GroupId(group), issue, start, start + cost.latency + extra});
  }

  /// The ring of an op holds what its slowest reader still needs.
  void make_room(Index cta_number, Index op, std::int64_t number) {
    const Cta& cta = ctas_[cta_number];
    const auto tile_end = [&](std::int64_t tile) {
      return tile + 1 < static_cast<std::int64_t>(cta.base.size()) ? cta.base[static_cast<std::size_t>(tile) + 1] - 1 : number;
    };
    for (const auto& [reader, e] : readers_[op]) {
      const CtaEdge& edge = program_.edges[e];
      const std::int64_t done = cta.count[reader];
      const bool by_tile = program_.sections[reader] != CtaSection::Loop;
      std::int64_t needed = done - reach_ - 1;
      if (program_.sections[op] != CtaSection::Loop)  // what is counted is tiles
        needed = (by_tile ? done : std::upper_bound(cta.base.begin(), cta.base.end(), done) - cta.base.begin() - 1) - 1;
      else if (edge.kind == Kind::Last)
        needed = tile_end(done);
      else if (edge.kind == Kind::Before)
        needed = tile_end(std::max<std::int64_t>(done - 1, 0));
      const auto half = static_cast<std::int64_t>(history_ / 2);
      while (number + half - needed > static_cast<std::int64_t>(history_) && fault_.empty()) grow(history_ * 2);
    }
  }

  void grow(std::size_t history) {
    const std::size_t ops = costs_.ops.size();
    while (history < static_cast<std::size_t>(2 * reach_ + 4)) history *= 2;
    if (ops * history > kMostStarts) {
      fault_ = "one warp group runs too far ahead of another to simulate";
      return;
    }
    for (Cta& cta : ctas_)
      for (std::vector<Cycle>* ring : {&cta.time, &cta.extra}) {
        if (ring->empty()) continue;
        std::vector<Cycle> wider(ops * history, kNotYet);
        for (std::size_t v = 0; v < ops; ++v)
          for (std::int64_t n = std::max<std::int64_t>(0, cta.count[v] - static_cast<std::int64_t>(history_)); n < cta.count[v]; ++n)
            wider[v * history + (static_cast<std::size_t>(n) & (history - 1))] =
                (*ring)[v * history_ + (static_cast<std::size_t>(n) & (history_ - 1))];
        *ring = std::move(wider);
      }
    history_ = history;
  }

  SmRun finish() {
    SmRun result;
    Simulation& run = result.run;
    run.simulated_ops = simulated_;
    run.groups.resize(program_.streams.size());
    run.ops.resize(costs_.ops.size());
    const bool open = std::any_of(streams_.begin(), streams_.end(), [](const SmStream& s) { return !s.done; });
    if (open && fault_.empty()) {
      run.deadlock = simulated_ < options_.most_ops;
      fault_ = run.deadlock ? describe_deadlock(run) : fmt::format("more than {} ops: too many to simulate one by one", options_.most_ops);
    }
    run.fault = fault_;
    if (!fault_.empty()) return result;
    const std::int64_t count = trips(ctas_[0], 0);
    run.trips = count;
    run.cycles = end_;
    const std::int64_t span = late() - half_way();
    run.period = {first_tile_ > 0 ? first_tile_ : end_, count, false, 0};
    if (period_.exact) {
      run.period = period_;
    } else if (span > 0) {
      run.period = {0, span, false, half_way()};
      for (std::size_t v = 0; v < half_.size(); ++v) run.period.weight = std::max(run.period.weight, late_[v] - half_[v]);
    }
    tally_.report(run);
    std::stable_sort(timeline_.begin(), timeline_.end(), [](const SimulatedOp& a, const SimulatedOp& b) { return a.start < b.start; });
    run.timeline = std::move(timeline_);
    result.first_tile = first_tile_;
    return result;
  }

  /// Where the mean period is taken: in the second half, but not where the loop drains and ops have the units for themselves.
  std::int64_t half_way() const { return trips(ctas_[0], 0) / 2; }
  std::int64_t late() const { return trips(ctas_[0], 0) - 1 - trips(ctas_[0], 0) / 8; }

  std::string describe_deadlock(Simulation& run) const {
    std::string text;
    for (const SmStream& s : streams_) {
      if (s.done || s.waits_for == kNobody) continue;
      const EventEdge& event = program_.events[program_.edges[s.waits_for].event];
      if (!run.stuck.valid()) run.stuck = OpId(s.op);
      text += fmt::format("{}{} of iteration {} waits for {} ({})", text.empty() ? "deadlock: " : ", ", program_.problem.ops[s.op].name,
                          s.number, program_.problem.op(event.from).name, event.what);
    }
    return text;
  }

  const CtaProgram& program_;
  const SmWork& work_;
  const SimulateOptions& options_;
  const OpCosts costs_;
  Tally tally_;
  std::vector<UnitQueue> units_;
  std::vector<std::vector<std::pair<Index, Index>>> readers_;  ///< per op: who reads it, and by which edge
  std::vector<Index> ring_before_;
  std::vector<Cta> ctas_;
  std::vector<SmStream> streams_;
  std::vector<Lane> lanes_;  ///< one per stream
  std::size_t history_ = 1, taken_ = 0;
  std::int64_t reach_ = 1, simulated_ = 0;
  Cycle end_ = 0, first_tile_ = 0;
  std::vector<Cycle> half_, late_;
  std::vector<SimulatedOp> timeline_;
  std::string fault_;
  bool alone_ = false;        ///< one tile of constant latencies: it may repeat itself
  std::size_t beat_ = 0;      ///< the stream whose windows are counted
  std::int64_t settled_ = 0;  ///< its first window in which everything that is waited for exists
  std::int64_t patience_ = 8;
  std::vector<char> used_;  ///< units by the loop
  Snapshot saved_;
  MeasuredPeriod period_;
};

}  // namespace

SmRun run_sm(const CtaProgram& program, const SmWork& work, const SimulateOptions& options) {
  for (const CtaStream& stream : program.streams)
    if (stream.stages > kMostStages) {
      SmRun nothing;
      nothing.run.groups.resize(program.schedule.groups.size());
      nothing.run.ops.resize(program.schedule.ops.size());
      nothing.run.fault = fmt::format("{} iterations overlap: too many to simulate", stream.stages);
      return nothing;
    }
  return Sm(program, work, options).run();
}

}  // namespace heddle
