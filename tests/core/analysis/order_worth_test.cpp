// What an order is worth: the order of a schedule kept, its starts computed afresh.
#include <catch2/catch.hpp>

#include "core/analysis/order_worth.h"
#include "core/check/checker.h"
#include "tests/support/problem_builder.h"
#include "tests/support/small_problem.h"

using namespace heddle;

TEST_CASE("the toy's best order sustains II 2, the serial order 3, whatever their starts were", "[core]") {
  const Problem problem = test::toy_problem();
  // The same order with every cycle worth a hundred.
  const OrderWorth best = order_worth(problem, test::place(problem, 200, {{0, 0}, {200, 0}, {310, 0}}));
  CHECK_FALSE(best.period.deadlock);
  CHECK(best.period.cycles() == 2);
  CHECK(best.schedule.ii == 2);
  CHECK(check(problem, best.schedule).valid());
  const OrderWorth serial = order_worth(problem, test::place(problem, 300, {{0, 0}, {100, 0}, {200, 0}}));
  CHECK(serial.period.cycles() == 3);
  CHECK(check(problem, serial.schedule).valid());
}

TEST_CASE("ops that start together follow their dependences", "[core]") {
  const Problem problem = test::toy_problem();
  const OrderWorth retimed = order_worth(problem, test::place(problem, 1, {{0, 0}, {0, 0}, {0, 0}}));
  CHECK_FALSE(retimed.period.deadlock);
  const OpId s = problem.find_op("S"), p = problem.find_op("P"), o = problem.find_op("O");
  CHECK(retimed.schedule.start(s) < retimed.schedule.start(p));
  CHECK(retimed.schedule.start(p) < retimed.schedule.start(o));
}

TEST_CASE("a reader that starts with the writer of the next copy comes first, so that the ring does not deadlock", "[core]") {
  test::ProblemBuilder builder({"TC"});
  const OpId write = builder.op("write", "TC", 4, 0), read = builder.op("read", "TC", 4, 0);
  builder.ring(write, 1024, {{read, 0}});
  builder.problem.channels.front().max_depth = 1;
  const OrderWorth retimed = order_worth(builder.problem, test::place(builder.problem, 1, {{0, 0}, {1, 0}}));
  CHECK_FALSE(retimed.period.deadlock);
  CHECK(retimed.period.cycles() == 8);
}

TEST_CASE("rings get the slots that help while memory lasts", "[core]") {
  test::ProblemBuilder builder({"TC", "TMA"});
  const OpId load = builder.load("load", "TMA", 10, 100), use = builder.op("use", "TC", 20);
  builder.ring(load, 1024, {{use, 0}});
  const Schedule order = test::place(builder.problem, 20, {{0, 0}, {100, 1}});
  const OrderWorth roomy = order_worth(builder.problem, order);
  CHECK(roomy.period.cycles() == 20);
  CHECK(roomy.schedule.depths.front() >= 5);
  CHECK(check(builder.problem, roomy.schedule).valid());
  builder.problem.limits.smem_bytes = 2048;
  const OrderWorth tight = order_worth(builder.problem, order);
  CHECK(tight.period.cycles() == 50);
  CHECK(tight.schedule.depths.front() == 2);
}
