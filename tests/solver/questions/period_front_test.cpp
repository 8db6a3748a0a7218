// The period against a resource.
#include "solver/questions/period_front.h"

#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "core/simulate/forecast.h"
#include "solver/questions/pareto.h"
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

Pareto front_of(const Problem& problem, Resource resource, const std::stop_token& stop = {}) {
  ParetoRequest request;
  request.solve.problem = problem;
  request.against = {resource};
  Pareto front = find_pareto(request);
  say_periods(problem, front);
  add_period_front({problem, {}, {{"one by one", test::small_attention_schedule(problem)}}, 60, 0}, front, stop);
  return front;
}

}  // namespace

TEST_CASE("fewer stages and fewer registers cost period, and every point is a legal schedule of that period", "[solver]") {
  const Problem problem = attention();
  for (const Resource resource : {Resource::Stages, Resource::Registers}) {
    CAPTURE(to_string(resource));
    const Pareto front = front_of(problem, resource);
    REQUIRE(front.by_period.size() > 1);
    CHECK_FALSE(front.by_period_cut);
    for (std::size_t i = 0; i < front.by_period.size(); ++i) {
      const PeriodPoint& point = front.by_period[i];
      CHECK(check(problem, point.schedule).valid());
      CHECK(resource_value(problem, point.schedule, resource) == point.amount);
      CHECK(deciding_period(problem, point.schedule).value() == Approx(point.period.cycles()).epsilon(0.001));
      if (i == 0) continue;
      CHECK(point.amount < front.by_period[i - 1].amount);
      CHECK(point.period.cycles() > front.by_period[i - 1].period.cycles());
    }
    CHECK(front.by_period.front().period.proof.standing == PeriodStanding::LeastOfAll);
    // No schedule of the front of II is faster with as little.
    for (const std::size_t i : front_points(front)) {
      const ParetoStep& step = front.steps[i];
      REQUIRE(step.contended_period);
      for (const PeriodPoint& point : front.by_period)
        if (point.amount >= step.values[0]) CHECK(point.period.cycles() <= *step.contended_period * 1.001);
    }
  }
}

TEST_CASE("a front tells periods in words and in the schema's form, and is read again with them", "[solver]") {
  const Problem problem = attention();
  const Pareto front = front_of(problem, Resource::Stages);
  const Json json = pareto_json(problem, {}, front);
  CHECK(test::schema_fault(pareto_schema(), json) == "");
  REQUIRE(json.find("by_period"));
  const Result<Pareto> again = parse_pareto(json.pretty(), "", problem, {});
  REQUIRE(again);
  CHECK(again->steps.size() == front.steps.size());
  const std::string text = pareto_summary(problem, front, {});
  CHECK(text.find("the least period against stages") != std::string::npos);
  CHECK(text.find("predicted of that schedule's order") != std::string::npos);
}

TEST_CASE("a front of the period that is stopped says so", "[solver]") {
  const Problem problem = attention();
  std::stop_source stopped;
  stopped.request_stop();
  const Pareto front = front_of(problem, Resource::Stages, stopped.get_token());
  CHECK(front.by_period.empty());
  CHECK(front.by_period_cut);
}
