// Random user constraints on small random problems: the solver finds a schedule exactly when exhaustive search does.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>

#include "core/analysis/bounds.h"
#include "core/check/checker.h"
#include "core/schedule/constraint_text.h"
#include "solver/search/objectives.h"
#include "solver/search/solve.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_constraint.h"
#include "tests/support/random_problem.h"
#include "tests/support/solver/cross_check.h"

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

TEST_CASE("under an order of stages exhaustive search, the solver and the second encoder agree", "[property]") {
  test::RandomProblemOptions shape;
  shape.max_ops = 4;
  int decided = 0, feasible = 0;
  for (std::uint32_t seed = 2001; seed <= 2100; ++seed) {
    const Problem problem = test::random_problem(seed, shape);
    if (problem.ops.size() < 2) continue;
    const Cycle ii = std::max<Cycle>(compute_bounds(problem).min_ii(), 2) + static_cast<Cycle>(seed % 3);
    if (ii > 14) continue;
    std::mt19937 random(seed);
    const std::size_t first = random() % problem.ops.size(),
                      second = (first + 1 + random() % (problem.ops.size() - 1)) % problem.ops.size();
    solver::SolveRequest request;
    request.problem = problem;
    request.ii = ii;
    request.max_stages = kStages;
    request.objectives = {};
    request.constraints = {{"apart",
                            true,
                            ConstraintKind::EarlierStage,
                            {problem.ops[first].name, problem.ops[second].name},
                            "",
                            1 + static_cast<std::int64_t>(random() % 2),
                            0}};
    const test::BruteForce truth = test::brute_force(problem, ii, kStages, request.constraints, 200'000);
    const solver::CrossCheck second_encoder = solver::cross_check(problem, request.constraints, ii, kStages, 5);
    if (truth.gave_up || second_encoder.answer == solver::Answer::Unknown) continue;
    CAPTURE(seed, ii, describe(request.constraints[0]));
    CHECK((second_encoder.answer == solver::Answer::Yes) == truth.schedule.has_value());
    if (second_encoder.schedule) CHECK(check(problem, *second_encoder.schedule, request.constraints).valid());
    const SolveOutcome outcome = solver::solve(request);
    if (outcome.schedule)
      CHECK(check(problem, *outcome.schedule, request.constraints).valid());
    else
      CHECK(outcome.status == Status::Infeasible);
    // The solver may look at more stages.
    if (truth.schedule) CHECK(outcome.schedule);
    if (outcome.schedule && !truth.schedule) CHECK(stage_count(*outcome.schedule) > kStages);
    ++decided;
    feasible += truth.schedule.has_value();
  }
  CAPTURE(decided, feasible);
  CHECK(decided > 50);
  CHECK(feasible > decided / 4);
}

TEST_CASE("whichever objective comes first, its proved value cannot be lowered at that II", "[property]") {
  using namespace solver;
  const std::pair<Objective, ConstraintKind> kinds[] = {{Objective::Stages, ConstraintKind::MaxStages},
                                                        {Objective::Warps, ConstraintKind::MaxWarps},
                                                        {Objective::Smem, ConstraintKind::MaxSmem},
                                                        {Objective::Tmem, ConstraintKind::MaxTmem},
                                                        {Objective::Registers, ConstraintKind::MaxRegisters}};
  int proved = 0, deeper = 0;
  for (std::uint64_t seed = 30'001; seed <= 30'060; ++seed) {
    SolveRequest request;
    request.problem = test::random_problem(seed, {.max_ops = 6});
    request.objectives = {Objective::Stages};
    const SolveOutcome fewest = solve(request);
    if (fewest.status != Status::Optimal) continue;
    for (const auto& [objective, kind] : kinds) {
      CAPTURE(seed, solver::to_string(objective));
      request.objectives = {objective};
      const SolveOutcome outcome = solve(request);
      REQUIRE(outcome.schedule);
      REQUIRE(outcome.objectives.size() == 2);
      const ObjectiveValue& value = outcome.objectives[1];
      if (!value.proved || value.value == 0) continue;
      ++proved;
      deeper += stage_count(*outcome.schedule) > stage_count(*fewest.schedule);
      UserConstraint less;
      less.name = "less";
      less.kind = kind;
      less.high = value.value - 1;
      SolveRequest again = request;
      again.constraints = {less};
      again.ii = outcome.schedule->ii;
      CHECK_FALSE(solve(again).schedule.has_value());
    }
  }
  CAPTURE(proved, deeper);
  CHECK(proved > 80);
  CHECK(deeper > 0);  // less of another objective may cost a stage
}
