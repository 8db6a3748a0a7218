// Programs of nearly the least period, beside schedules of equal II.
#include "solver/questions/program_alternatives.h"

#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "core/simulate/forecast.h"
#include "solver/questions/alternatives.h"
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

Alternatives alternatives_of(const Problem& problem, int count, bool periods = true) {
  AlternativesRequest request;
  request.solve.problem = problem;
  request.count = count;
  request.periods = periods;
  return find_alternatives(request);
}

LeastOrderRequest request_of(const Problem& problem, const Constraints& constraints) {
  return {problem, constraints, {{"one by one", test::small_attention_schedule(problem)}}, 60, 0};
}

}  // namespace

TEST_CASE("programs of nearly the least period are legal, differ, and come by their periods", "[solver]") {
  const Problem problem = attention();
  Alternatives answer = alternatives_of(problem, 4);
  for (const Alternative& one : answer.found) CHECK(one.contended_period == deciding_period(problem, one.schedule));
  add_programs(request_of(problem, {}), 6, answer, {});
  REQUIRE(answer.least_period);
  REQUIRE(answer.programs.size() > 1);
  CHECK(answer.programs.size() <= 6);
  CHECK(answer.programs.front().period == Approx(answer.least_period->cycles()).epsilon(0.002));
  double before = 0;
  for (const ProgramAlternative& program : answer.programs) {
    CHECK(program.period >= before);
    CHECK(program.period <= answer.programs.front().period * (1 + 0.01 * kNearlyLeastPercent));
    CHECK(check(problem, program.schedule).valid());
    CHECK(deciding_period(problem, program.schedule).value() == Approx(program.period).epsilon(0.001));
    before = program.period;
  }
  for (std::size_t i = 1; i < answer.programs.size(); ++i)
    CHECK_FALSE(same_program(answer.programs[0].schedule, answer.programs[i].schedule));
  CHECK(test::schema_fault(alternatives_schema(), alternatives_json(problem, answer)) == "");
  const std::string text = alternatives_summary(problem, answer, {});
  CHECK(text.find(standing_text(answer.least_period->proof)) != std::string::npos);
  CHECK(text.find("p2 differs from p1") != std::string::npos);
}

TEST_CASE("without a question for periods alternatives are as before", "[solver]") {
  const Problem problem = attention();
  const Alternatives plain = alternatives_of(problem, 2, false);
  CHECK_FALSE(plain.found.at(0).contended_period);
  CHECK(alternatives_summary(problem, plain, {}).find("sustains") == std::string::npos);
  CHECK_FALSE(alternatives_json(problem, plain).find("programs"));
  CHECK(test::schema_fault(alternatives_schema(), alternatives_json(problem, plain)) == "");
}

TEST_CASE("stopped at once, no program is given", "[solver]") {
  const Problem problem = attention();
  Alternatives answer = alternatives_of(problem, 2);
  std::stop_source stopped;
  stopped.request_stop();
  add_programs(request_of(problem, {}), 6, answer, stopped.get_token());
  CHECK(answer.programs.empty());
}
