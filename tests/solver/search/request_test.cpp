// What a caller knows already: a bound, a schedule, a cutoff, and that only II matters.
#include <algorithm>
#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "solver/search/serial.h"
#include "solver/search/solve.h"
#include "tests/support/problem_builder.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;
using heddle::test::ProblemBuilder;

namespace {

/// II 3 although each unit is busy for 2 cycles and no recurrence is longer than 2.
Problem gap_problem() {
  ProblemBuilder b({"A", "B"});
  b.problem.max_groups = 2;
  const OpId x = b.op("x", "A", 2, 2), y = b.op("y", "B", 2, 2);
  b.edge(x, y);
  b.edge(y, x, 1);
  return b.problem;
}

Schedule any_schedule(const Problem& problem) {
  Schedule schedule = serial_schedule(problem, {}, serial_ii(problem));
  REQUIRE(check(problem, schedule).valid());
  return schedule;
}

std::vector<Cycle> incumbents_of(const SolveRequest& request) {
  std::vector<Cycle> iis;
  solve(request, {}, [&](const SolveEvent& event) {
    if (const auto* found = std::get_if<Incumbent>(&event)) iis.push_back(found->schedule.ii);
  });
  return iis;
}

}  // namespace

TEST_CASE("a bound that the caller knows counts as proved, with its reason", "[solver]") {
  SolveRequest request;
  request.problem = gap_problem();
  const SolveOutcome plain = solve(request);
  REQUIRE(plain.status == Status::Optimal);
  REQUIRE(plain.schedule);

  request.known_bound = plain.schedule->ii;
  request.known_bound_why = "refuted last week";
  const SolveOutcome known = solve(request);
  CHECK(known.status == Status::Optimal);
  CHECK(known.lower_bound == plain.schedule->ii);
  CHECK(known.schedule->ii == plain.schedule->ii);

  // One more than the optimum would be a lie; what is shown is what was said, and nothing is searched below.
  request.known_bound = plain.schedule->ii + 5;
  const SolveOutcome above = solve(request);
  CHECK(above.lower_bound == plain.schedule->ii + 5);
  CHECK(above.reason == BoundReason::Refutation);
  CHECK(above.explanation.find("refuted last week") != std::string::npos);
  CHECK(above.schedule->ii == plain.schedule->ii + 5);

  // Weaker than arithmetic: ignored.
  request.known_bound = 1;
  CHECK(solve(request).explanation.find("last week") == std::string::npos);
}

TEST_CASE("a legal incumbent is where the search starts, an illegal one is ignored", "[solver]") {
  SolveRequest request;
  request.problem = test::random_mixed_problem(3, 16);
  request.objectives = {};
  const Schedule start = any_schedule(request.problem);
  request.incumbent = start;
  const std::vector<Cycle> legal = incumbents_of(request);
  REQUIRE(!legal.empty());
  CHECK(legal.front() == start.ii);
  CHECK(std::is_sorted(legal.rbegin(), legal.rend()));

  Schedule broken = start;
  broken.ii = 1;
  request.incumbent = broken;
  const std::vector<Cycle> illegal = incumbents_of(request);
  REQUIRE(!illegal.empty());
  CHECK(illegal.front() != 1);
  CHECK(illegal.back() == legal.back());

  Schedule wrong_size = start;
  wrong_size.ops.pop_back();
  request.incumbent = wrong_size;
  CHECK(incumbents_of(request).back() == legal.back());
}

TEST_CASE("no time: the incumbent is what there is", "[solver]") {
  SolveRequest request;
  request.problem = test::random_mixed_problem(1, 50);
  request.incumbent = any_schedule(request.problem);
  request.timeout_seconds = 0;
  const SolveOutcome outcome = solve(request);
  CHECK(outcome.status == Status::Feasible);
  REQUIRE(outcome.schedule);
  CHECK(outcome.schedule->ii == request.incumbent->ii);
  CHECK(outcome.timed_out);
}

TEST_CASE("a cutoff ends the search as soon as the bound reaches it", "[solver]") {
  SolveRequest request;
  request.problem = test::random_mixed_problem(1, 16);
  const SolveOutcome whole = solve(request);
  REQUIRE(whole.status == Status::Optimal);
  REQUIRE(whole.lower_bound > whole.res_mii);

  request.cutoff = whole.res_mii;  // arithmetic alone reaches it
  const SolveOutcome none = solve(request);
  CHECK(none.cut_off);
  CHECK(none.lower_bound >= whole.res_mii);
  CHECK(none.status != Status::Optimal);
  CHECK(none.queries == 0);
  CHECK(!none.timed_out);
  CHECK(!none.cancelled);

  request.cutoff = whole.lower_bound + 1;  // never reached
  const SolveOutcome all = solve(request);
  CHECK(!all.cut_off);
  CHECK(all.status == Status::Optimal);
  CHECK(all.schedule->ii == whole.schedule->ii);
}

TEST_CASE("without objectives only II is decided", "[solver]") {
  SolveRequest request;
  request.problem = gap_problem();
  request.objectives = {};
  const SolveOutcome outcome = solve(request);
  CHECK(outcome.status == Status::Optimal);
  REQUIRE(outcome.objectives.size() == 1);
  CHECK(outcome.objectives[0].name == "ii");
  CHECK(outcome.objectives[0].proved);
  REQUIRE(outcome.schedule);
  REQUIRE(outcome.schedule->certificate);
  CHECK(outcome.schedule->certificate->objectives.size() == 1);
}
