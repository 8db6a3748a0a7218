// Random user constraints on small random problems: the solver finds a schedule exactly when exhaustive search does.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>

#include "core/check/checker.h"
#include "solver/search/solve.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_constraint.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

constexpr int kStages = 3;

}  // namespace

TEST_CASE("exhaustive search and the solver agree under random user constraints", "[property]") {
  test::RandomProblemOptions shape;
  shape.max_ops = 4;
  int agreed = 0, feasible = 0;
  for (std::uint32_t seed = 1; seed <= 600; ++seed) {
    const Problem problem = test::random_problem(seed, shape);
    const test::BruteForceMinimum free = test::brute_force_minimum(problem, kStages, 14, {}, 100'000);
    if (free.ii == 0 || free.gave_up) continue;
    std::mt19937 random(seed);
    solver::SolveRequest request;
    request.problem = problem;
    request.ii = free.ii + static_cast<Cycle>(random() % 3);
    request.max_stages = kStages;
    request.objectives = {};
    for (std::uint32_t i = 0, n = 1 + random() % 2; i < n; ++i)
      if (const auto c = test::random_constraint(problem, *request.ii, random)) request.constraints.push_back(*c);
    const test::BruteForce truth = test::brute_force(problem, *request.ii, kStages, request.constraints, 400'000);
    if (truth.gave_up) continue;
    const SolveOutcome outcome = solver::solve(request);
    std::string names;
    for (const UserConstraint& c : request.constraints) names += c.name + " ";
    CAPTURE(seed, names, *request.ii, outcome.explanation);
    if (outcome.schedule) {
      CHECK(check(problem, *outcome.schedule, request.constraints).valid());
      if (!truth.schedule) CHECK(stage_count(*outcome.schedule) > kStages);  // the solver may look at more stages
    } else {
      CHECK(outcome.status == Status::Infeasible);
      CHECK_FALSE(truth.schedule);
    }
    ++agreed;
    feasible += truth.schedule.has_value();
  }
  CAPTURE(agreed, feasible);
  CHECK(agreed > 300);
  CHECK(feasible > agreed / 4);
}

TEST_CASE("the least II under random user constraints is the one of exhaustive search", "[property]") {
  test::RandomProblemOptions shape;
  shape.max_ops = 4;
  constexpr Cycle kHighest = 14;
  int agreed = 0, without = 0;
  for (std::uint32_t seed = 1001; seed <= 1150; ++seed) {
    const Problem problem = test::random_problem(seed, shape);
    std::mt19937 random(seed);
    solver::SolveRequest request;
    request.problem = problem;
    request.max_stages = kStages;
    request.objectives = {};
    for (std::uint32_t i = 0, n = 1 + random() % 2; i < n; ++i)
      if (const auto c = test::random_constraint(problem, 6, random)) request.constraints.push_back(*c);
    // One demand for late cycles, where the shortest II that can hold it is far above the bounds and pins collide.
    const auto& ops = problem.ops;
    const auto late = [&] { return static_cast<std::int64_t>(random() % 32); };
    if (random() % 2 == 0)
      request.constraints.push_back({"late", true, ConstraintKind::Pin, {ops[random() % ops.size()].name}, "", late(), 0});
    else if (ops.size() > 1)
      request.constraints.push_back({"apart", true, ConstraintKind::Before, {ops[0].name, ops[1].name}, "", late(), 0});
    const test::BruteForceMinimum truth = test::brute_force_minimum(problem, kStages, kHighest, request.constraints, 400'000);
    if (truth.gave_up) continue;
    const SolveOutcome outcome = solver::solve(request);
    std::string names;
    for (const UserConstraint& c : request.constraints) names += fmt::format("{} {} {} ", c.name, c.low, c.high);
    CAPTURE(seed, names, truth.ii, outcome.explanation);
    if (truth.ii > 0) {
      // The solver may look at more stages, so its II may be smaller, but it has one and proves it.
      REQUIRE(outcome.schedule);
      CHECK(outcome.status == Status::Optimal);
      CHECK(outcome.schedule->ii <= truth.ii);
      if (stage_count(*outcome.schedule) <= kStages) CHECK(outcome.schedule->ii == truth.ii);
    } else if (outcome.schedule) {
      CHECK((outcome.schedule->ii > kHighest || stage_count(*outcome.schedule) > kStages));
    }
    if (outcome.schedule) CHECK(check(problem, *outcome.schedule, request.constraints).valid());
    ++agreed;
    without += truth.ii == 0;
  }
  CAPTURE(agreed, without);
  CHECK(agreed > 70);
}
