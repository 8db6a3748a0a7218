// What demands cost of the least period, beside what they cost of II.
#include <catch2/catch.hpp>

#include <vector>

#include "core/answers/price.h"
#include "core/formats/constraints_json.h"
#include "core/simulate/forecast.h"
#include "solver/questions/least_order.h"
#include "solver/questions/price.h"
#include "tests/support/json_schema.h"
#include "tests/support/small_attention.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

/// Two groups that fill an SM.
Problem attention() {
  Problem problem = test::small_attention(true, 16);
  problem.resident_smem = problem.limits.smem_bytes;
  return problem;
}

SolveRequest request_of(const Problem& problem, const std::vector<std::string>& demands) {
  SolveRequest request;
  request.problem = problem;
  for (const std::string& demand : demands) request.constraints.push_back(parse_constraint(demand, problem).value());
  return request;
}

KnownPrograms one_by_one(const Problem& problem) {
  return [&](const std::stop_token&) {
    return std::vector<programs::KnownProgram>{{"one by one", test::small_attention_schedule(problem)}};
  };
}

Prices priced(const SolveRequest& request) { return price_constraints(request, {}, {}, nullptr, one_by_one(request.problem)); }

}  // namespace

TEST_CASE("a demand costs what the least period is shorter without it", "[solver]") {
  const Problem problem = attention();
  REQUIRE(deciding_period(problem, test::small_attention_schedule(problem)));
  const Prices prices = priced(request_of(problem, {"at most 1 stage", "S0 before P0 by 1"}));
  CHECK(prices.periods);
  REQUIRE(prices.all.period);
  REQUIRE(prices.none.period);
  const ConstraintPrice &stages = prices.constraints[0], &order = prices.constraints[1];
  REQUIRE(stages.without.period);
  REQUIRE(order.without.period);
  // In one stage a group's products and arithmetic follow each other; the order is kept anyway.
  CHECK(price_in_period(stages.without, prices.all).value() > 10);
  CHECK(price_in_period(order.without, prices.all) == 0);
  CHECK(price_in_period(prices.none, stages.without) == 0);
  CHECK(prices.none.period->proof.standing == PeriodStanding::LeastOfAll);
  // The same as when it is asked by itself.
  const auto alone = least_under({problem, {}, one_by_one(problem)({}), 60, 0}, {});
  REQUIRE(alone);
  CHECK(alone->period.cycles() == prices.none.period->cycles());
  CHECK(deciding_period(problem, alone->schedule).value() == Approx(alone->period.cycles()).epsilon(0.001));
}

TEST_CASE("no demand makes a period shorter, whatever it speaks of", "[solver]") {
  const Problem problem = attention();
  const Prices prices = priced(request_of(problem, {"pin S0 at 0", "S0 before O1 by 1", "at most 2 stages"}));
  REQUIRE(prices.none.period);
  REQUIRE(prices.all.period);
  for (const ConstraintPrice& price : prices.constraints) {
    CAPTURE(price.demand);
    REQUIRE(price.without.period);
    CHECK(price.without.period->cycles() <= prices.all.period->cycles());
    CHECK(price.without.period->cycles() >= prices.none.period->cycles());
  }
  // A program has no cycles to pin anything at: with the pin the period is that of an order at hand.
  CHECK(prices.all.period->proof.standing != PeriodStanding::LeastOfAll);
  CHECK_FALSE(prices.all.period->from.empty());
}

TEST_CASE("prices of periods are told in words and in the schema's form, and left out where none are asked", "[solver]") {
  const Problem problem = attention();
  const SolveRequest request = request_of(problem, {"at most 1 stage"});
  const Prices with = priced(request), without = price_constraints(request);
  CHECK(test::schema_fault(price_schema(), price_json(problem, with)) == "");
  const std::string text = price_summary(problem, with);
  CHECK(text.find("least period") != std::string::npos);
  CHECK(text.find(standing_text(with.none.period->proof)) != std::string::npos);
  CHECK(price_json(problem, with).find("constraints")->items()->front().find("period_cycles"));
  CHECK_FALSE(without.periods);
  CHECK_FALSE(without.all.period);
  CHECK(price_summary(problem, without).find("period") == std::string::npos);
  CHECK_FALSE(price_json(problem, without).find("constraints")->items()->front().find("period_cycles"));
}

TEST_CASE("without time, or when stopped, no period is priced, and that is said", "[solver]") {
  const Problem problem = attention();
  SolveRequest request = request_of(problem, {"at most 1 stage"});
  std::stop_source stopped;
  PriceListener listener;
  listener.asking = [&](const std::string& doing) {
    if (doing.starts_with("the least period")) stopped.request_stop();
  };
  const Prices cut = price_constraints(request, stopped.get_token(), listener, nullptr, one_by_one(problem));
  CHECK(cut.cancelled);
  CHECK(cut.all.ii);
  CHECK_FALSE(cut.none.period);
  request.timeout_seconds = 0;
  const Prices none = priced(request);
  CHECK(none.timed_out);
  CHECK_FALSE(none.all.period);
}
