// How full rings are: against a count cycle by cycle, on random small schedules, at the times of runs and of schedules.
#include "core/simulate/ring_fill.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "core/analysis/channels.h"
#include "core/analysis/stream_order.h"
#include "tests/support/problem_builder.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_schedule.h"
#include "tests/support/small_problem.h"

using namespace heddle;

namespace {

using Instance = std::pair<OpId, std::int64_t>;

/// What happens when, as a test needs it: every op of every iteration.
struct Moments {
  const Problem& problem;
  const Schedule& schedule;
  std::map<Instance, SimulatedOp> at;
  std::vector<std::size_t> rank = tie_ranks(problem, schedule);

  auto place(const Instance& i) const {
    return std::tuple(schedule.start(i.first) + i.second * schedule.ii, rank[i.first.index()], i.first);
  }

  /// Everything that its group issues before it has been issued, and its window is over.
  bool has_come(const Instance& to, Cycle time) const {
    for (const auto& [other, run] : at) {
      if (run.group != schedule.group(to.first) || place(other) >= place(to)) continue;
      if (run.issue + problem.op(other.first).window > time) return false;
    }
    return units_free(to, time);
  }
  /// What used its units before, and left no room, is over when it would use them.
  bool units_free(const Instance& to, Cycle time) const {
    for (const UnitUse& use : problem.op(to.first).uses) {
      const auto takes_all = [&](const UnitUse& u) { return u.duration > 0 && 2 * u.amount > problem.unit(u.unit).capacity; };
      if (!takes_all(use)) continue;
      for (const auto& [other, run] : at)
        for (const UnitUse& its : problem.op(other.first).uses)
          if (its.unit == use.unit && takes_all(its) && run.start + its.offset < at.at(to).start + use.offset &&
              run.start + its.offset + its.duration > time + use.offset)
            return false;
    }
    return true;
  }
  Cycle late(const Instance& i) const { return at.at(i).end - at.at(i).start - problem.op(i.first).latency; }

  /// When the last reader has released what was written in iteration i; nothing where one of them is not there.
  std::optional<Cycle> released(const Channel& channel, std::int64_t i, bool told) const {
    Cycle last = std::numeric_limits<Cycle>::min();
    for (const Reader& r : channel.readers) {
      if (!reader_counts(channel, r, schedule)) continue;
      const Instance read{r.op, i + r.distance};
      if (!at.contains(read)) return std::nullopt;
      const bool crosses = schedule.group(r.op) != schedule.group(channel.writer);
      last = std::max(last,
                      at.at(read).start + r.release + (problem.op(r.op).asynchronous ? late(read) : 0) + (told && crosses ? r.signal : 0));
    }
    return last;
  }
};

struct Counted {
  int taken = 0, filled = 0;
  bool starving = false, full = false;
};

Counted count_at(const Moments& moments, const Channel& channel, int depth, Cycle time) {
  Counted counted;
  const auto& [problem, schedule, at, rank] = moments;
  for (const auto& [instance, run] : at) {
    const auto& [op, i] = instance;
    if (op == channel.writer) {
      auto until = moments.released(channel, i, false);
      if (!until && at.contains({op, i + depth})) until = at.at({op, i + depth}).start;
      const bool there = run.start <= time && (!until || time < *until);
      counted.taken += there;
      counted.filled += there && run.end <= time;
      const auto credit = moments.released(channel, i - depth, true);
      const bool entry = at.contains({op, i - depth}) && time >= at.at({op, i - depth}).end;
      if (credit && entry && time < *credit && time < run.issue && moments.has_come(instance, time)) counted.full = true;
    }
    for (const Edge& edge : problem.edges) {
      if (edge.to != op || std::find(channel.values.begin(), channel.values.end(), edge.value) == channel.values.end()) continue;
      const Instance from{edge.from, i - edge.distance};
      if (!at.contains(from)) continue;
      const Cycle arrival =
          at.at(from).start + edge.latency + moments.late(from) + (schedule.group(edge.from) != schedule.group(edge.to) ? edge.handoff : 0);
      if (time < arrival && time < run.issue && moments.has_come(instance, time)) counted.starving = true;
    }
  }
  return counted;
}

bool waits_at(const std::vector<RingWait>& waits, Cycle time) {
  return std::any_of(waits.begin(), waits.end(), [&](const RingWait& w) { return w.begin <= time && time < w.end; });
}

/// The curve and the stretches say the same as a count at every cycle.
void compare(const Moments& moments, const std::vector<RingFill>& rings, Cycle begin, Cycle end, Cycle shift) {
  for (const RingFill& ring : rings) {
    const Channel& channel = moments.problem.channel(ring.channel);
    const int depth = moments.schedule.depth(ring.channel);
    INFO("ring " << channel.name << ", " << depth << " slots");
    for (Cycle time = begin; time < end; ++time) {
      INFO("cycle " << time);
      const Counted counted = count_at(moments, channel, depth, time + shift);
      REQUIRE(value_at(ring.taken, time) == counted.taken);
      REQUIRE(value_at(ring.filled, time) == counted.filled);
      REQUIRE(waits_at(ring.starving, time) == counted.starving);
      REQUIRE(waits_at(ring.full, time) == counted.full);
    }
    Cycle starving = 0;
    double taken = 0;
    for (Cycle time = begin; time < end; ++time)
      starving += waits_at(ring.starving, time), taken += static_cast<double>(value_at(ring.taken, time));
    CHECK(share_of_time(ring.starving, begin, end) == Approx(static_cast<double>(starving) / static_cast<double>(end - begin)));
    CHECK(mean_value(ring.taken, begin, end) == Approx(taken / static_cast<double>(end - begin)));
  }
}

}  // namespace

TEST_CASE("in random runs rings are as full, and waited for, as a count at every cycle says, and never fuller than they are deep",
          "[core]") {
  int ran = 0, starved = 0, filled = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const Problem p = test::random_problem(seed, {.max_ops = 6, .max_cost = 9});
    const Schedule s = test::random_schedule(p, random);
    SimulateOptions options;
    options.trips = 1 + random() % 8;
    options.timeline = 100;
    options.arbitration = random() % 3 == 0 ? Arbitration::FirstCome : Arbitration::Scheduled;
    if (random() % 2) options.jitter = {.percent = 40, .shape = JitterShape::Tail, .seed = seed, .every_op = true};
    const Simulation run = simulate(p, s, options);
    if (!run.fault.empty() || run.cycles > 2000) continue;
    Moments moments{p, s, {}};
    for (const SimulatedOp& op : run.timeline) moments.at[{op.op, op.iteration}] = op;
    const std::vector<RingFill> rings = ring_fill(p, s, run.timeline, 0, run.cycles);
    compare(moments, rings, 0, run.cycles, 0);
    for (const RingFill& ring : rings) {
      ++ran;
      starved += !ring.starving.empty();
      filled += !ring.full.empty();
      for (const UsageStep& step : ring.taken) CHECK((step.value >= 0 && step.value <= s.depth(ring.channel)));
      for (const UsageStep& step : ring.filled) CHECK((step.value >= 0 && step.value <= value_at(ring.taken, step.at)));
    }
  }
  CHECK(ran > 300);
  CHECK(starved > 100);
  CHECK(filled > 30);
}

TEST_CASE("a schedule's own times, over one window and from cold start, give the same as a count of iterations", "[core]") {
  int rings_seen = 0;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const Problem p = test::random_problem(seed, {.max_ops = 6, .max_cost = 9});
    const Schedule s = test::random_schedule(p, random);
    if (s.ii > 200) continue;
    const auto moment_of = [&](OpId op, std::int64_t i) {
      const Cycle start = s.start(op) + i * s.ii;
      return SimulatedOp{op, i, s.group(op), start, start, start + p.op(op).latency};
    };
    std::int64_t reach = stage_count(s) + 4;
    for (const Edge& e : p.edges) reach += e.distance;
    for (const Channel& channel : p.channels) reach += slot_life(channel, s) / s.ii + 1;
    for (const int depth : s.depths) reach += depth;
    // For ever: as many iterations around a window as anything reaches.
    Moments steady{p, s, {}};
    for (std::size_t v = 0; v < p.ops.size(); ++v)
      for (std::int64_t i = 0; i <= 4 * reach; ++i) steady.at[{OpId(v), i}] = moment_of(OpId(v), i);
    const std::vector<RingFill> window = ring_fill(p, s, FillRange{0, s.ii, std::nullopt});
    compare(steady, window, 0, s.ii, 2 * reach * s.ii);
    rings_seen += static_cast<int>(window.size());
    // A run.
    const int iterations = 1 + static_cast<int>(random() % 5);
    Moments cold{p, s, {}};
    Cycle end = 1;
    for (std::size_t v = 0; v < p.ops.size(); ++v)
      for (int i = 0; i < iterations; ++i) {
        const SimulatedOp op = moment_of(OpId(v), i);
        cold.at[{OpId(v), i}] = op;
        end = std::max(end, op.end);
      }
    compare(cold, ring_fill(p, s, FillRange{0, end, iterations}), 0, end, 0);
  }
  CHECK(rings_seen > 100);
}

TEST_CASE("a ring starves where loads are slower than what reads them, and is full where they are faster", "[core]") {
  const auto fill = [](Cycle load, Cycle product) {
    test::ProblemBuilder b({"TC", "TMA"});
    const OpId l = b.load("x", "TMA", load, load + 50), m = b.op("mma", "TC", product, product);
    b.ring(l, 1024, {{m, 0}}, 10);
    Schedule s = test::place(b.problem, std::max(load, product), {{0, 0}, {load + 50, 1}});
    s.depths[0] = 2;
    SimulateOptions options;
    options.trips = options.timeline = 64;
    const Simulation run = simulate(b.problem, s, options);
    REQUIRE(run.fault == "");
    return ring_fill(b.problem, s, run.timeline, run.cycles / 4, run.cycles / 2).front();
  };
  const RingFill slow = fill(300, 100), fast = fill(100, 300);
  const auto part = [](const RingFill& ring, const std::vector<RingWait>& waits) { return share_of_time(waits, ring.begin, ring.end); };
  CHECK(part(slow, slow.starving) > 0.5);
  CHECK(part(slow, slow.full) == 0);
  CHECK(part(fast, fast.full) > 0.5);
  CHECK(part(fast, fast.starving) == 0);
  CHECK(mean_value(fast.taken, fast.begin, fast.end) > 1.9);
}

TEST_CASE("absurd schedules have lanes too, in no time", "[core]") {
  test::ProblemBuilder b({"TC", "TMA"});
  const OpId l = b.load("x", "TMA", 10, 20), m = b.op("mma", "TC", 10, 10);
  b.ring(l, 1024, {{m, 3}}, 10);
  Schedule s = test::place(b.problem, 10, {{0, 0}, {100, 1}});
  s.ii = 1;
  s.ops[0].start = Cycle{1} << 45;
  s.ops[1].start = 0;
  s.depths[0] = 1 << 30;
  CHECK(ring_fill(b.problem, s, FillRange{0, 1, std::nullopt}).size() == 1);
  CHECK(ring_fill(b.problem, s, FillRange{-1000, Cycle{1} << 46, 64}).size() == 1);
  s.ops[1].start = Cycle{1} << 61;
  CHECK(ring_fill(b.problem, s, FillRange{0, 1, std::nullopt}).size() == 1);
}
