// Solving with layouts and instructions that somebody chose.
#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/search/solve.h"

using namespace heddle;

namespace {

Problem with(const char* kernel, const LayoutChoices& choices) {
  return resolve(load_kernel(kernel).value(), load_machine("h100").value(), {}, {}, choices).value();
}

SolveOutcome least_ii(const Problem& problem) {
  solver::SolveRequest request;
  request.problem = problem;
  request.objectives = {};
  return solver::solve(request);
}

}  // namespace

TEST_CASE("a dQ store whose lanes meet in banks is proved to cost 256 cycles of the period", "[solver]") {
  LayoutChoices plain;
  plain.instructions = {{"stage_dq0", {"st.shared.8", {}}}, {"stage_dq1", {"st.shared.8", {}}}};
  const Problem problem = with("attention_backward_hopper", plain);
  const SolveOutcome outcome = least_ii(problem);
  REQUIRE(outcome.schedule);
  CHECK(outcome.status == Status::Optimal);
  CHECK(outcome.schedule->ii == 2688 + 256);
  CHECK(check(problem, *outcome.schedule).valid());
}

TEST_CASE("a solved schedule carries the choices that it was solved with", "[solver]") {
  LayoutChoices choices;
  choices.layouts = {{"b", "panels 64"}};
  const Problem problem = with("gemm_hopper", choices);
  const SolveOutcome outcome = least_ii(problem);
  REQUIRE(outcome.schedule);
  CHECK(outcome.schedule->layouts == choices);
  const auto again = parse_schedule(schedule_text(problem, *outcome.schedule), "s.json", problem);
  REQUIRE(again);
  CHECK(again->layouts == choices);
  CHECK(same_program(*again, *outcome.schedule));
}
