// Exact ranges against exhaustive search: every end was seen in a legal schedule, and no schedule goes one cycle further.
#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "solver/questions/slack.h"
#include "solver/search/solve.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

constexpr int kStages = 3;

/// Some schedule has `op` at `from` or later, or at `to` or earlier, when the anchor starts at `held`.
std::optional<bool> reachable(const Problem& problem, Cycle ii, OpId anchor, Cycle held, OpId op, Cycle from, Cycle to) {
  if (to < 0 || from >= kStages * ii) return false;
  UserConstraint pin, range;
  pin.ops = {problem.op(anchor).name};
  pin.low = held;
  range.kind = ConstraintKind::Range;
  range.ops = {problem.op(op).name};
  range.low = std::max<Cycle>(0, from);
  range.high = std::min<Cycle>(to, kStages * ii - 1);
  const test::BruteForce found = test::brute_force(problem, ii, kStages, {pin, range}, 150'000);
  if (found.gave_up) return {};
  return found.schedule.has_value();
}

}  // namespace

TEST_CASE("exact earliest and latest starts are those of exhaustive search", "[property]") {
  test::RandomProblemOptions shape;
  shape.max_ops = 4;
  int ends = 0, beyond_paths = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = test::random_problem(seed, shape);
    const test::BruteForceMinimum best = test::brute_force_minimum(problem, 2, 10, {}, 100'000);
    if (!best.schedule || best.gave_up) continue;
    SlackRequest request;
    request.problem = problem;
    request.schedule = *best.schedule;
    request.stages = kStages;
    request.exact = true;
    const SlackRanges ranges = slack_ranges(request);
    CAPTURE(seed, best.ii, ranges.fault);
    REQUIRE(ranges.legal);
    REQUIRE(ranges.complete());
    const Cycle fixed = best.schedule->start(ranges.anchor);
    for (const OpRange& range : ranges.ops) {
      CAPTURE(range.op.index(), range.start, range.path_earliest, range.path_latest, range.earliest.bound, range.latest.bound);
      CHECK(range.path_earliest <= range.earliest.bound);
      CHECK(range.earliest.bound <= range.start);
      CHECK(range.start <= range.latest.bound);
      CHECK(range.latest.bound <= range.path_latest);
      beyond_paths += range.path_earliest < range.earliest.bound || range.latest.bound < range.path_latest;
      if (range.op == ranges.anchor) continue;
      // The anchor's slot is 0 and its stage any, so exhaustive search tries it at the start of every window.
      bool reached[2] = {false, false}, gave_up = false;
      for (int stage = 0; stage < kStages && !gave_up; ++stage) {
        const Cycle held = stage * best.ii, far = kStages * best.ii;
        const Cycle early = held + range.earliest.bound - fixed, late = held + range.latest.bound - fixed;
        for (const bool later : {false, true}) {
          const auto at = reachable(problem, best.ii, ranges.anchor, held, range.op, later ? late : 0, later ? far : early);
          const auto further = reachable(problem, best.ii, ranges.anchor, held, range.op, later ? late + 1 : 0, later ? far : early - 1);
          gave_up |= !at || !further;
          if (gave_up) break;
          reached[later] |= *at;
          CHECK_FALSE(*further);
        }
      }
      if (gave_up) continue;
      CHECK(reached[0]);
      CHECK(reached[1]);
      ends += 2;
    }
  }
  CAPTURE(ends, beyond_paths);
  CHECK(ends > 80);
  CHECK(beyond_paths > 10);
}
