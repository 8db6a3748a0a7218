// Random user constraints on small random problems: the solver finds a schedule exactly when exhaustive search does.
#include <catch2/catch.hpp>

#include <random>

#include "core/check/checker.h"
#include "solver/solve.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

constexpr int kStages = 3;

std::optional<UserConstraint> random_constraint(const Problem& problem, Cycle ii, std::mt19937& random) {
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  const auto op = [&] { return problem.ops[static_cast<std::size_t>(below(static_cast<std::int64_t>(problem.ops.size())))].name; };
  UserConstraint c;
  c.kind = static_cast<ConstraintKind>(below(15));
  c.name = to_string(c.kind);
  switch (c.kind) {
    case ConstraintKind::Pin: c.ops = {op()}; c.low = below(2 * ii); break;
    case ConstraintKind::Range: c.ops = {op()}; c.low = below(2 * ii); c.high = c.low + below(4); break;
    case ConstraintKind::InGroup:
    case ConstraintKind::NotInGroup: c.ops = {op()}; c.low = below(problem.max_groups); break;
    case ConstraintKind::SameGroup:
    case ConstraintKind::DifferentGroup:
    case ConstraintKind::SameStage: c.ops = {op(), op()}; break;
    case ConstraintKind::Before: c.ops = {op(), op()}; c.low = below(8) - 2; break;
    case ConstraintKind::MaxStages: c.high = 1 + below(3); break;
    case ConstraintKind::MaxWarps: c.high = 1 + below(8); break;
    case ConstraintKind::MaxGroups: c.high = 1 + below(2); break;
    case ConstraintKind::MaxRegisters: c.high = 4 + below(12); break;
    case ConstraintKind::MaxSmem: c.high = 16 * below(8); break;
    case ConstraintKind::MaxTmem: c.high = 32 * below(4); break;
    case ConstraintKind::MaxDepth:
      if (problem.channels.empty()) return std::nullopt;
      c.channel = problem.channels[static_cast<std::size_t>(below(static_cast<std::int64_t>(problem.channels.size())))].name;
      c.high = below(3);
      break;
  }
  if (c.ops.size() == 2 && c.ops[0] == c.ops[1]) return std::nullopt;
  return c;
}

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
      if (const auto c = random_constraint(problem, *request.ii, random)) request.constraints.push_back(*c);
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
