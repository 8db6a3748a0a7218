// Prices against exhaustive search: the least II with all constraints, without any, and without each one.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "core/formats/constraints_json.h"
#include "solver/questions/price.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_constraint.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

constexpr int kStages = 3;
constexpr Cycle kHighest = 12;

/// Compares where exhaustive search, which looks at fewer stages and smaller IIs, can say anything. True if it could.
bool compare(const Problem& problem, const Constraints& constraints, const PricedOptimum& optimum) {
  const test::BruteForceMinimum truth = test::brute_force_minimum(problem, kStages, kHighest, constraints, 150'000);
  if (truth.gave_up) return false;
  if (truth.ii == 0) {
    if (optimum.ii) {
      const std::int64_t stages = optimum.objective("stages")->value;
      CHECK((*optimum.ii > kHighest || stages > kStages));
    }
    return false;
  }
  REQUIRE(optimum.ii);
  CHECK(optimum.status == Status::Optimal);
  CHECK(*optimum.ii <= truth.ii);
  if (*optimum.ii < truth.ii) CHECK(optimum.objective("stages")->value > kStages);
  return true;
}

}  // namespace

TEST_CASE("prices are differences of the least IIs that exhaustive search finds", "[property]") {
  test::RandomProblemOptions shape;
  shape.max_ops = 4;
  int compared = 0, costly = 0;
  for (std::uint32_t seed = 1; seed <= 120; ++seed) {
    const Problem problem = test::random_problem(seed, shape);
    std::mt19937 random(seed);
    SolveRequest request;
    request.problem = problem;
    request.max_stages = kStages;
    for (int i = 0; i < 3; ++i)
      if (const auto c = test::random_constraint(problem, 4, random)) request.constraints.push_back(*c);
    if (request.constraints.empty()) continue;
    const Prices prices = price_constraints(request);
    std::string names;
    for (const UserConstraint& c : request.constraints) names += describe(c) + "; ";
    CAPTURE(seed, names);
    REQUIRE(prices.constraints.size() == request.constraints.size());
    CHECK(prices.complete());
    compared += compare(problem, request.constraints, prices.all) + compare(problem, {}, prices.none);
    for (std::size_t i = 0; i < request.constraints.size(); ++i) {
      Constraints others = request.constraints;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      CAPTURE(i);
      compared += compare(problem, others, prices.constraints[i].without);
      const auto range = price_in_cycles(prices.constraints[i].without, prices.all);
      if (!range) continue;
      CHECK(range->proved());
      costly += range->most > 0;
    }
    if (prices.give_up.empty()) continue;
    Constraints kept;
    for (std::size_t i = 0; i < request.constraints.size(); ++i)
      if (std::find(prices.give_up.begin(), prices.give_up.end(), i) == prices.give_up.end()) kept.push_back(request.constraints[i]);
    CHECK(prices.without_those.ii);
    compare(problem, kept, prices.without_those);
    CHECK(prices.give_up.size() > 1);  // one alone would have been found to be in the way
  }
  CAPTURE(compared, costly);
  CHECK(compared > 100);
  CHECK(costly > 3);
}
