// Ranges and prices on the toy, and under stops and limits.
#include <catch2/catch.hpp>

#include "solver/questions/price.h"
#include "solver/questions/slack.h"
#include "solver/search/solve.h"
#include "tests/support/problem_builder.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

SlackRequest toy_request() {
  SlackRequest request;
  request.problem = test::toy_problem();
  SolveRequest solve_request;
  solve_request.problem = request.problem;
  request.schedule = *solve(solve_request).schedule;
  request.exact = true;
  return request;
}

UserConstraint max_stages(std::int64_t limit) {
  UserConstraint c;
  c.name = "cap";
  c.kind = ConstraintKind::MaxStages;
  c.high = limit;
  return c;
}

}  // namespace

TEST_CASE("the anchor stands still, everything else has a proved range that contains its start", "[solver]") {
  const SlackRequest request = toy_request();
  std::size_t heard = 0;
  const SlackRanges ranges = slack_ranges(request, {}, [&](const OpRange&, std::size_t, std::size_t) { ++heard; });
  CHECK(heard == ranges.ops.size());
  CHECK(ranges.complete());
  for (const OpRange& range : ranges.ops) {
    CHECK(range.earliest.bound <= range.start);
    CHECK(range.latest.bound >= range.start);
    if (range.op == ranges.anchor) CHECK(range.earliest.bound == range.latest.bound);
  }
}

TEST_CASE("a cap on stages makes ranges absolute and narrower", "[solver]") {
  SlackRequest request = toy_request();
  const SlackRanges wide = slack_ranges(request);
  request.constraints = {max_stages(2)};
  const SlackRanges narrow = slack_ranges(request);
  CHECK_FALSE(wide.absolute);
  CHECK(narrow.absolute);
  CHECK(narrow.stages == 2);
  for (std::size_t i = 0; i < wide.ops.size(); ++i) {
    CHECK(narrow.ops[i].latest.bound <= wide.ops[i].latest.bound);
    CHECK(narrow.ops[i].earliest.bound >= 0);
  }
}

TEST_CASE("ranges that were stopped or out of time say so and prove nothing false", "[solver]") {
  SlackRequest request = toy_request();
  std::stop_source stopped;
  stopped.request_stop();
  const SlackRanges none = slack_ranges(request, stopped.get_token());
  CHECK(none.cancelled);
  CHECK_FALSE(none.complete());
  request.timeout_seconds = 0;
  CHECK(slack_ranges(request).timed_out);
}

TEST_CASE("the range of an illegal schedule is that of the legal ones at its II", "[solver]") {
  SlackRequest request = toy_request();
  request.schedule.ops[1].start = request.schedule.ops[0].start;  // before its input
  const SlackRanges ranges = slack_ranges(request);
  CHECK_FALSE(ranges.legal);
  CHECK(ranges.fault.empty());
  CHECK(ranges.complete());
  request.schedule.ii = 1;
  CHECK_FALSE(slack_ranges(request).fault.empty());
}

TEST_CASE("a cap costs what it costs, and of impossible demands those in the way are named", "[solver]") {
  SolveRequest request;
  request.problem = test::toy_problem();
  request.constraints = {max_stages(1)};
  Prices prices = price_constraints(request);
  REQUIRE(prices.constraints.size() == 1);
  const auto range = price_in_cycles(prices.constraints[0].without, prices.all);
  REQUIRE(range);
  CHECK(range->proved());
  CHECK(range->most == 1);
  CHECK(prices.complete());

  UserConstraint never = max_stages(0);
  request.constraints.push_back(never);
  prices = price_constraints(request);
  CHECK(prices.all.status == Status::Infeasible);
  CHECK(prices.constraints[1].without.ii == 3);
  CHECK(prices.give_up.empty());
  request.constraints.push_back(never);
  prices = price_constraints(request);
  CHECK(prices.give_up == std::vector<std::size_t>{1, 2});
  CHECK(prices.without_those.ii == 3);

  request.timeout_seconds = 0;
  prices = price_constraints(request);
  CHECK(prices.timed_out);
  CHECK_FALSE(prices.complete());
}

TEST_CASE("a demand of an op that does not exist is a fault of the question for slack", "[solver]") {
  for (const ConstraintKind kind :
       {ConstraintKind::Pin, ConstraintKind::Range, ConstraintKind::InGroup, ConstraintKind::NotInGroup, ConstraintKind::SameGroup,
        ConstraintKind::DifferentGroup, ConstraintKind::Before, ConstraintKind::SameStage, ConstraintKind::EarlierStage}) {
    SlackRequest request = toy_request();
    UserConstraint c;
    c.name = "of another kernel";
    c.kind = kind;
    c.ops = {"exp17", request.problem.ops.front().name};
    request.constraints = {c};
    const SlackRanges ranges = slack_ranges(request);
    CHECK(ranges.fault.find("names no op 'exp17'") != std::string::npos);
    CHECK(ranges.ops.size() == request.problem.ops.size());  // longest paths need no solver
  }
}
