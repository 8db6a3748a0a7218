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
