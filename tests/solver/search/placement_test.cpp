// Placing ops without Z3: whatever comes out is legal, and comes out again.
#include "solver/search/placement.h"

#include <catch2/catch.hpp>

#include "core/analysis/bounds.h"
#include "core/check/checker.h"
#include "solver/search/incumbent.h"
#include "solver/search/serial.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

std::optional<Schedule> placed(const Problem& problem, Cycle ii, bool in_order, std::uint64_t seed = 0) {
  PlacementOptions options;
  options.ii = ii;
  options.in_order = in_order;
  options.seed = seed;
  options.budget = 20 * static_cast<std::int64_t>(problem.ops.size());
  return place_ops(problem, {}, options);
}

bool same(const Schedule& a, const Schedule& b) {
  if (a.ii != b.ii || a.ops.size() != b.ops.size()) return false;
  for (std::size_t v = 0; v < a.ops.size(); ++v)
    if (a.ops[v].start != b.ops[v].start || a.ops[v].group != b.ops[v].group) return false;
  return true;
}

}  // namespace

TEST_CASE("placed schedules are legal, small and large, and the same each time", "[solver]") {
  int found = 0;
  const auto examine = [&](const Problem& problem, Cycle ii) {
    for (const bool in_order : {false, true}) {
      INFO(problem.kernel << ", " << problem.ops.size() << " ops, II " << ii << (in_order ? ", in order" : ""));
      const auto schedule = placed(problem, ii, in_order);
      if (!schedule) continue;
      ++found;
      CHECK(schedule->ii == ii);
      CHECK(check(problem, *schedule).valid());
      CHECK(stage_count(*schedule) <= PlacementOptions{}.stages);
      const auto again = placed(problem, ii, in_order);
      REQUIRE(again);
      CHECK(same(*schedule, *again));
      if (const auto shorter = tightened(problem, {}, *schedule)) {
        CHECK(shorter->ii < ii);
        CHECK(check(problem, *shorter).valid());
      }
    }
  };
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Problem problem = test::random_problem(seed);
    const Cycle bound = compute_bounds(problem).min_ii();
    if (bound > 1000) continue;
    examine(problem, bound);
    examine(problem, 2 * bound + 5);
  }
  CHECK(found > 100);
  for (const int ops : {50, 120}) {
    const int before = found;
    examine(test::random_layered_problem(1, ops), compute_bounds(test::random_layered_problem(1, ops)).min_ii() * 5 / 4);
    examine(test::random_mixed_problem(1, ops), compute_bounds(test::random_mixed_problem(1, ops)).min_ii() * 2);
    CHECK(found > before);
  }
}

TEST_CASE("better schedules come one after the other, each better than the last", "[solver]") {
  const Problem problem = test::random_layered_problem(2, 60);
  const Cycle low = compute_bounds(problem).min_ii();
  std::optional<Schedule> start = serial_schedule(problem, {}, serial_ii(problem));
  REQUIRE(check(problem, *start).valid());
  Cycle last = start->ii;
  place_better(problem, {}, {low, start, 2}, {}, [&](const Schedule& better) {
    CHECK(better.ii < last);
    CHECK(better.ii >= low);
    CHECK(check(problem, better).valid());
    last = better.ii;
  });
  CHECK(last < low * 3 / 2);
}

TEST_CASE("placing ends when asked to", "[solver]") {
  const Problem problem = test::random_mixed_problem(1, 100);
  PlacementOptions options;
  options.ii = compute_bounds(problem).min_ii();
  options.budget = 1'000'000'000;
  std::stop_source source;
  source.request_stop();
  options.limits.stop = source.get_token();
  CHECK_THROWS_AS(place_ops(problem, {}, options), Stopped);
  options.limits = {};
  options.limits.deadline = Clock::now();
  CHECK_THROWS_AS(place_ops(problem, {}, options), Stopped);
}
