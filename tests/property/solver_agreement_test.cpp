// The solver against the truth: exhaustive search on small random problems, and the second encoder. Both sides judge by the
// independent checker. A failing case prints its seed.
#include <catch2/catch.hpp>

#include "core/analysis/bounds.h"
#include "core/analysis/period.h"
#include "core/check/checker.h"
#include "solver/search/decide.h"
#include "solver/search/solve.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"
#include "tests/support/solver/cross_check.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

constexpr int kStages = 3;
constexpr Cycle kLimit = 14;

/// The main model's answer at one II for schedules that span fewer than kStages * II cycles.
Answer model_answer(const Problem& problem, Cycle ii, Schedule& schedule) {
  ModelOptions options;
  options.ii = ii;
  options.stages = kStages;
  options.anchored = false;
  LiveModel live(problem, {}, options);
  return live.check({}, schedule);
}

std::string complaints(const Problem& problem, const Schedule& schedule) {
  std::string text;
  for (const Violation& v : check(problem, schedule).violations) text += v.family + ": " + v.message + "\n";
  return text;
}

}  // namespace

TEST_CASE("exhaustive search and the model agree on feasibility at every II", "[property]") {
  int decided = 0, feasible = 0;
  for (std::uint64_t seed = 1; seed <= 2500; ++seed) {
    const Problem problem = test::random_problem(seed);
    for (const Cycle ii : {Cycle{1} + static_cast<Cycle>(seed % 4), Cycle{4} + static_cast<Cycle>(seed % 7)}) {
      const test::BruteForce truth = test::brute_force(problem, ii, kStages, {}, 150'000);
      if (truth.gave_up) continue;
      Schedule schedule;
      const Answer answer = model_answer(problem, ii, schedule);
      CAPTURE(seed, ii);
      if (answer == Answer::Yes) CHECK(complaints(problem, schedule) == "");
      REQUIRE((answer == Answer::Yes) == truth.schedule.has_value());
      ++decided;
      feasible += truth.schedule.has_value();
    }
  }
  CAPTURE(decided, feasible);
  CHECK(decided > 3000);
  CHECK(feasible > decided / 10);
  CHECK(feasible < decided * 9 / 10);
}

TEST_CASE("the search ends at the least II that exhaustive search finds", "[property]") {
  int compared = 0;
  for (std::uint64_t seed = 10'001; seed <= 10'400; ++seed) {
    const Problem problem = test::random_problem(seed);
    const test::BruteForceMinimum truth = test::brute_force_minimum(problem, kStages, kLimit, {}, 150'000);
    if (truth.gave_up) continue;
    SolveRequest request;
    request.problem = problem;
    request.objectives = {};
    const SolveOutcome outcome = solve(request);
    CAPTURE(seed, outcome.explanation, truth.ii);
    if (truth.ii == 0) {
      if (outcome.schedule) CHECK((outcome.schedule->ii > kLimit || stage_count(*outcome.schedule) > kStages));
      continue;
    }
    REQUIRE(outcome.status == Status::Optimal);
    // The solver looks at more stages than the exhaustive search, so it may do better, never worse.
    CHECK(outcome.schedule->ii <= truth.ii);
    if (outcome.schedule->ii < truth.ii) CHECK(stage_count(*outcome.schedule) > kStages);
    CHECK(outcome.lower_bound == outcome.schedule->ii);
    const Period period = sustainable_period(problem, *outcome.schedule);
    CHECK_FALSE(period.deadlock);
    CHECK(period.cycles() <= outcome.schedule->ii);
    ++compared;
  }
  CHECK(compared > 200);
}

TEST_CASE("the anchored model, the unanchored model and the second encoder agree", "[property]") {
  int decided = 0;
  for (std::uint64_t seed = 20'001; seed <= 20'250; ++seed) {
    test::RandomProblemOptions shape;
    shape.max_ops = 8;
    const Problem problem = test::random_problem(seed, shape);
    const Cycle ii = std::max<Cycle>(compute_bounds(problem).min_ii(), 2) + static_cast<Cycle>(seed % 3);
    Schedule schedule;
    const Answer answer = model_answer(problem, ii, schedule);
    const CrossCheck other = cross_check(problem, {}, ii, kStages, 5);
    CAPTURE(seed, ii);
    if (other.answer == Answer::Unknown) continue;
    REQUIRE(answer == other.answer);
    if (other.schedule) CHECK(complaints(problem, *other.schedule) == "");
    ModelOptions anchored;
    anchored.ii = ii;
    anchored.stages = kStages + 1;  // covers every rotation of kStages stages
    LiveModel live(problem, {}, anchored);
    Schedule rotated;
    const Answer third = live.check({}, rotated);
    if (answer == Answer::Yes) CHECK(third == Answer::Yes);
    if (third == Answer::Yes) CHECK(complaints(problem, rotated) == "");
    ++decided;
  }
  CHECK(decided > 150);
}
