// The simulator against the event graph's maximum cycle ratio, by hand and over random problems, and its accounts.
#include "core/simulate/simulate.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>

#include "core/analysis/channels.h"
#include "core/analysis/period.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// Groups at random, starts that keep dependences more or less, rings deep enough or one slot too shallow.
Schedule random_schedule(const Problem& p, std::mt19937& random) {
  const Cycle ii = 1 + random() % 20;
  std::vector<std::pair<Cycle, int>> placed;
  const int groups = 1 + static_cast<int>(random() % 3);
  for (std::size_t v = 0; v < p.ops.size(); ++v)
    placed.emplace_back(random() % (3 * ii), static_cast<int>(random() % static_cast<unsigned>(groups)));
  // Mostly in the order of the edges, so that most schedules run.
  if (random() % 8 != 0)
    for (std::size_t pass = 0; pass < p.ops.size(); ++pass)
      for (const Edge& e : p.edges) {
        auto& to = placed[e.to.index()];
        const auto& from = placed[e.from.index()];
        const Cycle due = from.first + e.latency + (to.second == from.second ? 0 : e.handoff) - e.distance * ii;
        if (random() % 10 != 0 && pass + 1 < p.ops.size()) to.first = std::max(to.first, due);
      }
  Schedule s = place(p, ii, placed);
  for (int& depth : s.depths)
    if (depth > 0 && random() % 4 == 0) depth = std::max(1, depth - 1 + static_cast<int>(random() % 3));
  return s;
}

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
