// Ranges and prices as text and JSON.
#include <catch2/catch.hpp>

#include "core/answers/price.h"
#include "core/answers/slack.h"
#include "tests/support/json_schema.h"
#include "tests/support/problem_builder.h"
#include "tests/support/small_problem.h"

using namespace heddle;

namespace {

PricedOptimum optimum(Status status, Cycle ii, Cycle bound, std::int64_t stages) {
  PricedOptimum o;
  o.status = status;
  if (ii > 0) o.ii = ii;
  o.lower_bound = bound;
  if (ii > 0) o.objectives = {{"ii", ii, ii == bound}, {"stages", stages, true}};
  return o;
}

}  // namespace

TEST_CASE("a price is proved when both sides are, and a range otherwise", "[core]") {
  const PricedOptimum cheap = optimum(Status::Optimal, 2048, 2048, 2), dear = optimum(Status::Optimal, 2176, 2176, 3);
  CHECK(price_text(cheap, dear) == "128 cycles (2048 -> 2176), stages +1");
  CHECK(price_text(cheap, cheap) == "nothing");
  CHECK(price_text(cheap, optimum(Status::Feasible, 2176, 2100, 2)) == "52 to 128 cycles (not proved)");
  CHECK(price_text(optimum(Status::Feasible, 2100, 2048, 2), dear) == "76 to 128 cycles (not proved), stages +1");
  CHECK(price_text(PricedOptimum{}, dear) == "not decided in time");
  CHECK(price_text(cheap, optimum(Status::Infeasible, 0, 0, 0)) == "without it there is a schedule, II 2048 (proved)");
  CHECK_FALSE(price_in_cycles(cheap, PricedOptimum{}));
}

TEST_CASE("hostile names stay off the terminal", "[core]") {
  Prices prices;
  prices.all = prices.none = optimum(Status::Optimal, 2, 2, 1);
  prices.constraints.push_back({"evil\x1b[2J", "demand\n", prices.none});
  const std::string text = price_summary(test::toy_problem(), prices);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(price_json(test::toy_problem(), prices).find("constraints")->items()->size() == 1);
  CHECK(test::schema_fault(price_schema(), price_json(test::toy_problem(), prices)) == "");
}

TEST_CASE("an end that is not proved shows its bound too", "[core]") {
  const Problem problem = test::toy_problem();
  const Schedule schedule = test::place(problem, 2, {{0, 0}, {1, 0}, {3, 0}});
  SlackRanges ranges;
  ranges.ii = 2;
  ranges.anchor = OpId(0);
  ranges.exact = ranges.legal = true;
  OpRange range;
  range.op = OpId(1);
  range.start = 1;
  range.alone = {kUnlimited, 2};
  range.earliest = {-7, 1};
  range.latest = {4, 4};
  ranges.ops = {range};
  const std::string text = slack_summary(problem, schedule, ranges, {});
  CHECK(text.find("1 (bound -7)") != std::string::npos);
  CHECK(text.find("one end proved") != std::string::npos);
  CHECK(text.find("free +2") != std::string::npos);
  const Json json = slack_json(problem, schedule, ranges);
  CHECK(test::schema_fault(slack_schema(), json) == "");
  CHECK(*json.find("complete")->boolean() == false);
  CHECK(text.find("may grow by") == std::string::npos);

  ranges.period = 2446.5;
  ranges.ops[0].growth = 12;
  const std::string with = slack_summary(problem, schedule, ranges, {});
  CHECK(with.find("may grow by") != std::string::npos);
  CHECK(with.find("2446.5") != std::string::npos);
  CHECK(test::schema_fault(slack_schema(), slack_json(problem, schedule, ranges)) == "");
  ranges.ops[0].growth = kUnlimited;
  CHECK(slack_json(problem, schedule, ranges).find("ops")->items()->front().find("may_grow_by")->is_null());
}
