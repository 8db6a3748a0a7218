// Alternatives as rows.
#include "app/window/tabs/alternatives/alternatives_model.h"

#include <catch2/catch.hpp>

#include "tests/support/fake_solver.h"
#include "tests/support/problem_builder.h"

using namespace heddle;
using namespace heddle::app;

namespace {

Alternatives handmade(const Problem& problem) {
  Alternatives answer;
  answer.found.resize(1);
  answer.found[0].schedule = test::toy_schedule(problem, true);
  answer.found[0].period = 2;
  return answer;
}

}  // namespace

TEST_CASE("programs of nearly the least period stand behind the alternatives, with their periods", "[app]") {
  const Problem problem = test::toy_problem();
  Alternatives answer = handmade(problem);
  answer.found[0].contended_period = 2.5;
  answer.programs.push_back({test::toy_schedule(problem, false), 2.25, "fa3", {}});
  answer.programs.push_back({test::toy_schedule(problem, true), 2.5, "", {"O after P"}});
  const AlternativesModel model = build_alternatives(problem, answer);
  REQUIRE(model.rows.size() == 3);
  CHECK(model.periods);
  CHECK(model.rows[0].contended == "2.5");
  CHECK(model.rows[2].name == "program 2");
  CHECK(model.rows[2].differs == "program 2 differs from program 1");
  CHECK(model.rows[2].differences == std::vector<std::string>{"O after P"});
  CHECK(schedule_of(answer, model.rows[1]).ii == answer.programs[0].schedule.ii);
  CHECK(alternatives_as_text(model).starts_with("schedule\tperiod\tif off"));
}

TEST_CASE("where no period decides the rows are as before", "[app]") {
  const Problem problem = test::toy_problem();
  const AlternativesModel model = build_alternatives(problem, handmade(problem));
  CHECK_FALSE(model.periods);
  CHECK(alternatives_as_text(model).starts_with("schedule\tif off\tdistance\tnearest\tperiod\tstages"));
}
