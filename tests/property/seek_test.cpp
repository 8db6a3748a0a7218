// What is sought without Z3 against the truth: exhaustive search on small random problems.
#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "solver/encoding/finish_schedule.h"
#include "solver/search/objectives.h"
#include "solver/search/seek.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

constexpr int kStages = 3;

ObjectiveCaps caps_at(const Problem& problem, Schedule schedule) {
  finish_schedule(problem, {}, schedule);  // exhaustive search leaves budgets open
  ObjectiveCaps caps;
  caps.stages = kStages;
  caps.warps = objective_value(problem, schedule, Objective::Warps);
  caps.smem = objective_value(problem, schedule, Objective::Smem);
  caps.registers = objective_value(problem, schedule, Objective::Registers);
  return caps;
}

}  // namespace

TEST_CASE("caps that a schedule keeps are not refuted, and much of what has no schedule is", "[property]") {
  int kept = 0, impossible = 0, refuted = 0, found = 0;
  for (std::uint64_t seed = 1; seed <= 1200; ++seed) {
    const Problem problem = test::random_problem(seed);
    for (const Cycle ii : {Cycle{1} + static_cast<Cycle>(seed % 4), Cycle{4} + static_cast<Cycle>(seed % 7)}) {
      const test::BruteForce truth = test::brute_force(problem, ii, kStages, {}, 50'000);
      if (truth.gave_up) continue;
      CAPTURE(seed, ii);
      ObjectiveCaps any;
      any.stages = kStages;
      const bool none = refuted_within(problem, {}, ii, any, {});
      const std::optional<Schedule> sought = seek(problem, {}, ii, kStages, {});
      if (sought) CHECK((check(problem, *sought).valid() && stage_count(*sought) <= kStages));
      if (!truth.schedule) {
        CHECK_FALSE(sought);
        ++impossible, refuted += none;
        continue;
      }
      CHECK_FALSE(none);
      CHECK_FALSE(refuted_within(problem, {}, ii, caps_at(problem, *truth.schedule), {}));
      ++kept, found += sought.has_value();
    }
  }
  CAPTURE(kept, impossible, refuted, found);
  CHECK(kept > 200);
  CHECK(refuted > impossible / 2);
  CHECK(found > kept / 2);
}
