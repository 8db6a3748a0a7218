// Warm re-solve against solving from scratch: after every edit of a random sequence both give the same II, status and values.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "core/formats/constraints_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/search/warm.h"
#include "tests/support/random_constraint.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

std::string answer(const SolveOutcome& outcome) {
  std::string text = to_string(outcome.status);
  for (const ObjectiveValue& o : outcome.objectives) text += fmt::format(" {}={}{}", o.name, o.value, o.proved ? "" : "?");
  return text;
}

std::string list(const Constraints& constraints) {
  std::string text;
  for (const UserConstraint& c : constraints)
    if (c.enabled) text += describe(c) + "; ";
  return text;
}

struct Tally {
  int edits = 0, infeasible = 0, without_query = 0;
};

void edit_at_random(const Problem& problem, std::uint32_t seed, int edits, Cycle ii, Tally& tally) {
  SolveRequest request;
  request.problem = problem;
  WarmSolver warm(request);
  std::mt19937 random(seed);
  Constraints constraints;
  for (int i = 0; i < edits; ++i) {
    if (i > 0) test::random_edit(problem, ii, constraints, random);
    if (constraints.size() > 3) constraints.erase(constraints.begin());
    request.constraints = constraints;
    const SolveOutcome cold = solve(request);
    const SolveOutcome again = warm.solve(constraints);
    CAPTURE(seed, i, list(constraints), cold.explanation, again.explanation);
    CHECK(answer(again) == answer(cold));
    CHECK_FALSE((cold.timed_out || again.timed_out));
    if (again.schedule) CHECK(check(problem, *again.schedule, constraints).valid());
    if (again.status == Status::Optimal) CHECK(again.lower_bound == cold.lower_bound);
    ++tally.edits;
    tally.infeasible += again.status == Status::Infeasible;
    tally.without_query += again.queries == 0;
  }
}

}  // namespace

TEST_CASE("edit by edit, warm re-solve and solving from scratch agree on small random problems", "[property]") {
  test::RandomProblemOptions shape;
  shape.max_ops = 5;
  Tally tally;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) edit_at_random(test::random_problem(seed, shape), seed, 8, 6, tally);
  CAPTURE(tally.edits, tally.infeasible, tally.without_query);
  CHECK(tally.infeasible > tally.edits / 20);
  CHECK(tally.without_query > tally.edits / 10);
}
