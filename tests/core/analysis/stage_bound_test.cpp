// The stage bound on problems small enough to do by hand; tests/property checks its argument.
#include "core/analysis/stage_bound.h"

#include <catch2/catch.hpp>

#include "tests/support/problem_builder.h"

using namespace heddle;
using test::ProblemBuilder;

namespace {

UserConstraint constraint(ConstraintKind kind, std::vector<std::string> ops, std::int64_t low) {
  UserConstraint c;
  c.name = "c";
  c.kind = kind;
  c.ops = std::move(ops);
  c.low = low;
  return c;
}

}  // namespace

TEST_CASE("two ops one after the other need no more stages than the latency between them spans", "[core]") {
  ProblemBuilder b({"A", "B"});
  const OpId x = b.async_op("x", "A", 1, 30), y = b.op("y", "B", 1);
  b.edge(x, y);
  // y starts at most 30 + 9 cycles after x, which starts in the first ten.
  CHECK(stage_bound(b.problem, {}, 10) == 39 / 10 + 2);
}

TEST_CASE("ops that nothing connects need two stages at most", "[core]") {
  ProblemBuilder b({"A", "B"});
  b.op("x", "A", 7);
  b.op("y", "B", 100);
  CHECK(stage_bound(b.problem, {}, 100) == 2);
}

TEST_CASE("a ring ties its reader to its writer", "[core]") {
  ProblemBuilder b({"A", "B"});
  const OpId x = b.async_op("x", "A", 1, 30), y = b.op("y", "B", 1);
  b.ring(x, 1024, {{y, 0}});
  const auto loose = stage_bound(b.problem, {}, 10);
  b.problem.channels[0].max_depth = 4;
  const auto bound = stage_bound(b.problem, {}, 10);
  REQUIRE(loose);
  REQUIRE(bound);
  CHECK(*bound <= *loose);
}

TEST_CASE("an order demanded by the user counts like a dependence", "[core]") {
  ProblemBuilder b({"A", "B"});
  b.op("x", "A", 1);
  b.op("y", "B", 1);
  CHECK(stage_bound(b.problem, {constraint(ConstraintKind::Before, {"x", "y"}, 500)}, 10) > 50);
}

TEST_CASE("an order of stages demanded by the user counts like a dependence", "[core]") {
  ProblemBuilder b({"A", "B"});
  b.op("x", "A", 1);
  b.op("y", "B", 1);
  // At most the last cycle of the fifth stage after the first cycle of x's.
  CHECK(stage_bound(b.problem, {constraint(ConstraintKind::EarlierStage, {"x", "y"}, 5)}, 10) == 59 / 10 + 2);
}

TEST_CASE("where the user fixes cycles or stages nothing is claimed", "[core]") {
  const Problem problem = test::toy_problem();
  CHECK(stage_bound(problem, {}, 2));
  CHECK_FALSE(stage_bound(problem, {constraint(ConstraintKind::Pin, {"S"}, 4)}, 2));
  CHECK_FALSE(stage_bound(problem, {constraint(ConstraintKind::SameStage, {"S", "P"}, 0)}, 2));
}

TEST_CASE("absurd cycles give no bound instead of a wrong one", "[core]") {
  ProblemBuilder b({"A"});
  const OpId x = b.op("x", "A", 1), y = b.op("y", "A", 1);
  b.edge(x, y);
  b.problem.edges[0].latency = Cycle{1} << 61;
  CHECK_FALSE(stage_bound(b.problem, {}, 10));
}
