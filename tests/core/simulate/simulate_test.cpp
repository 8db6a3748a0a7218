// The simulator against the event graph's maximum cycle ratio, by hand and over random problems, and its accounts.
#include "core/simulate/simulate.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>

#include "core/analysis/period.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_schedule.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

void check_accounts(const Simulation& run) {
  for (const GroupTime& g : run.groups) {
    CHECK(g.idle >= 0);
    CHECK(std::accumulate(g.stalls.begin(), g.stalls.end(), g.busy + g.idle) == run.cycles);
  }
  Stalls by_op{}, by_group{}, by_wait{};
  for (const OpTime& op : run.ops)
    for (std::size_t r = 0; r < kStallReasons; ++r) by_op[r] += op.stalls[r];
  for (const GroupTime& g : run.groups)
    for (std::size_t r = 0; r < kStallReasons; ++r) by_group[r] += g.stalls[r];
  for (const Wait& w : run.waits) by_wait[static_cast<std::size_t>(w.reason)] += w.cycles;
  CHECK(by_op == by_group);
  CHECK(by_op == by_wait);
}

}  // namespace

TEST_CASE("with constant latencies the simulated period is the sustainable period, over random problems and orders", "[core]") {
  int ran = 0, stuck = 0, fractions = 0;
  for (std::uint32_t seed = 1; seed <= 4000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const Problem p = random_problem(seed, {.max_ops = 8, .max_cost = 9});
    const Schedule s = random_schedule(p, random);
    const Period expected = sustainable_period(p, s);
    const Simulation run = simulate(p, s, {.trips = 100'000});
    INFO(expected.sentence << " / " << run.fault);
    if (expected.deadlock) {
      CHECK((run.deadlock || run.unordered > 0));
      ++stuck;
      continue;
    }
    REQUIRE_FALSE(run.deadlock);
    ++ran;
    fractions += expected.tokens > 1;
    CHECK(run.period.exact);
    if (run.unordered == 0)
      CHECK(run.period.weight * expected.tokens == expected.weight * run.period.tokens);
    else
      CHECK(run.period.weight * expected.tokens <= expected.weight * run.period.tokens);
    check_accounts(run);
  }
  CHECK(ran > 1000);
  CHECK(stuck > 100);
  CHECK(fractions > 20);
}

TEST_CASE("a load, a product, two slots: fill, period, credits and drain to the cycle", "[core]") {
  Problem p = empty_problem();
  const OpId load = add_op(p, "load", 560, 10), mma = add_op(p, "mma", 100, 100);
  p.ops[0].variable_latency = p.ops[0].asynchronous = true;
  add_channel(p, load, 1024, {{mma, 0, 100, 40}});
  Edge& e = add_edge(p, load, mma, 560);
  e.value = ValueId(0);
  e.handoff = 40;
  Schedule s = place(p, 400, {{0, 0}, {600, 1}});
  s.depths[0] = 2;
  const Simulation run = simulate(p, s, {.trips = 5, .timeline = 5});
  std::vector<Cycle> loads, products;
  for (const SimulatedOp& op : run.timeline) (op.op == load ? loads : products).push_back(op.start);
  // A slot comes back 100 + 40 after its product starts, and 560 + 40 later the next product has its tile.
  CHECK(loads == std::vector<Cycle>{0, 10, 740, 840, 1480});
  CHECK(products == std::vector<Cycle>{600, 700, 1340, 1440, 2080});
  CHECK(run.cycles == 2180);
  CHECK(run.groups[1].busy == 500);
  CHECK(run.groups[1].stalls == Stalls{1680, 0, 0, 0});
  CHECK(run.groups[0].stalls == Stalls{0, 0, 0, 720 + 90 + 630});
  REQUIRE(run.waits.size() == 2);
  CHECK(run.waits[0].what == "load_tile");
  CHECK(run.waits[1].what == "ring load_tile (depth 2)");
  const Simulation longer = simulate(p, s, {.trips = 1000});
  CHECK(longer.period.exact);
  CHECK((longer.period.weight == 370 && longer.period.tokens == 1));
  CHECK(longer.cycles == 499 * 740 + 700 + 100);
}

TEST_CASE("a deadlock names the op and what it waits for, in both arbitrations", "[core]") {
  Problem p = empty_problem();
  const OpId load = add_op(p, "load", 5, 1), mma = add_op(p, "mma", 1, 1);
  add_channel(p, load, 1024, {{mma, 1, 1, 0}});
  add_edge(p, load, mma, 5, 1);
  Schedule s = place(p, 10, {{0, 0}, {5, 1}});
  s.depths[0] = 1;
  for (const Arbitration arbitration : {Arbitration::Scheduled, Arbitration::FirstCome}) {
    SimulateOptions options;
    options.arbitration = arbitration;
    CHECK_FALSE(simulate(p, s, options).deadlock);  // the slot goes from hand to hand
  }
  add_edge(p, mma, load, 1);
  for (const Arbitration arbitration : {Arbitration::Scheduled, Arbitration::FirstCome}) {
    SimulateOptions options;
    options.arbitration = arbitration;
    s.depths[0] = 0;
    const Simulation run = simulate(p, s, options);
    CHECK(run.deadlock);
    CHECK(run.stuck.valid());
    CHECK(run.fault.find("deadlock: ") == 0);
    CHECK(run.fault.find(" waits for ") != std::string::npos);
    CHECK(run.cycles == 0);
  }
}

TEST_CASE("absurd trip counts take no time where the run repeats itself, and say so where it cannot", "[core]") {
  Problem p = empty_problem();
  const OpId a = add_op(p, "a", 7, 3), b = add_op(p, "b", 4, 4);
  p.ops[0].variable_latency = true;
  add_edge(p, a, b, 7);
  add_edge(p, b, a, 4, 2);
  const Schedule s = place(p, 10, {{0, 0}, {7, 1}});
  const Simulation exact = simulate(p, s, {.trips = 1'000'000'000'000});
  CHECK(exact.trips == 1'000'000'000'000);
  CHECK(exact.period.exact);
  CHECK_FALSE(exact.extrapolated);
  CHECK(exact.simulated_ops < 1000);
  CHECK((exact.period.weight == 11 && exact.period.tokens == 2));
  CHECK(exact.cycles - simulate(p, s, {.trips = 1000}).cycles == (1'000'000'000'000 - 1000) / 2 * 11);
  check_accounts(exact);
  SimulateOptions jitter;
  jitter.trips = 1'000'000'000;
  jitter.most_ops = 20'000;
  jitter.jitter.percent = 50;
  const Simulation mean = simulate(p, s, jitter);
  CHECK(mean.extrapolated);
  CHECK(mean.trips == 1'000'000'000);
  CHECK_FALSE(mean.period.exact);
  CHECK(static_cast<double>(mean.cycles) / 1e9 == Approx(mean.period.cycles()).epsilon(0.01));
  for (const GroupTime& g : mean.groups) CHECK(std::accumulate(g.stalls.begin(), g.stalls.end(), g.busy + g.idle) == mean.cycles);
}

TEST_CASE("jitter is the same for the same seed, centred where it should be, and never shortens a latency below zero", "[core]") {
  for (const JitterShape shape : {JitterShape::Uniform, JitterShape::Normal, JitterShape::Tail}) {
    const LatencyJitter jitter{50, shape, 7, false};
    double sum = 0;
    Cycle least = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const Cycle more = jitter_of(jitter, 1000, 3, i);
      CHECK(more == jitter_of(jitter, 1000, 3, i));
      sum += static_cast<double>(more);
      least = std::min(least, more);
    }
    CHECK(sum / 20'000 == Approx(shape == JitterShape::Tail ? 500 : 0).margin(10));
    CHECK(least >= -1000);
    if (shape == JitterShape::Tail) CHECK(least == 0);
  }
  CHECK(jitter_of({1000, JitterShape::Uniform, 1, false}, 10, 0, 0) >= -10);
  CHECK(jitter_of({0, JitterShape::Tail, 1, false}, 10, 0, 0) == 0);
}
