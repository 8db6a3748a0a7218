// What files claim about their schedules, and what refutes it for free.
#include "core/check/claim.h"

#include <catch2/catch.hpp>

#include "core/answers/summary.h"
#include "core/check/certify.h"
#include "core/check/checker.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/schedule/constraint_text.h"
#include "core/schedule/question.h"
#include "tests/support/fake_solver.h"

using namespace heddle;

namespace {

struct Toy {
  Problem problem = resolve(load_kernel("toy_fig1").value(), load_machine("toy").value(), {}).value();

  /// A legal schedule with a claim that nothing contradicts: II 2 is the least there is.
  Schedule claimed(bool best) const {
    Schedule schedule = test::toy_schedule(problem, best);
    Certificate& claim = schedule.claim.emplace();
    claim.status = best ? Status::Optimal : Status::Feasible;
    claim.ii = schedule.ii;
    claim.lower_bound = 2;
    claim.problem_hash = problem_hash(problem);
    claim.objectives = {{"ii", schedule.ii, best}, {"stages", stage_count(schedule), best}};
    return schedule;
  }
  std::string why(const Schedule& schedule, const Constraints& constraints = {}) const {
    return why_claim_is_void(problem, constraints, schedule).value_or("stands");
  }
};

}  // namespace

TEST_CASE("a claim that nothing contradicts stands, and is called the file's word", "[core]") {
  const Toy toy;
  REQUIRE(check(toy.problem, toy.claimed(true)).valid());
  CHECK(toy.why(toy.claimed(true)) == "stands");
  CHECK(toy.why(toy.claimed(false)) == "stands");
  CHECK(headline(toy.claimed(true), {}).find("the file says proved") != std::string::npos);
  CHECK(headline(toy.claimed(false), {}).find("the file says bound 2, not proved") != std::string::npos);
  CHECK(headline(test::toy_schedule(toy.problem, true), {}).find("not proved") != std::string::npos);
}

TEST_CASE("a claim is void when it names no problem, another one, or other demands", "[core]") {
  const Toy toy;
  Schedule schedule = toy.claimed(true);
  schedule.claim->problem_hash.clear();
  CHECK(toy.why(schedule).find("does not say which problem") == 0);
  schedule.claim->problem_hash = "0123456789abcdef";
  CHECK(toy.why(schedule).find("is about another problem") == 0);
  const Constraints demands{parse_constraint("at most 4 stages", toy.problem).value()};
  schedule.claim->problem_hash = question_hash(toy.problem, demands);
  CHECK(toy.why(schedule).find("is about another problem, or about other demands") == 0);
  CHECK(toy.why(schedule, demands) == "stands");
  // A bound of the problem as it is holds under demands too.
  schedule.claim->problem_hash = problem_hash(toy.problem);
  CHECK(toy.why(schedule, demands) == "stands");
}

TEST_CASE("a claim that contradicts itself, its schedule or the checker is void", "[core]") {
  const Toy toy;
  const auto with = [&](auto change) {
    Schedule schedule = toy.claimed(true);
    change(schedule);
    return toy.why(schedule);
  };
  CHECK(with([](Schedule& s) { s.claim->ii = 7; }) == "is about II 7, and its schedule has II 2");
  CHECK(with([](Schedule& s) { s.claim->status = Status::Infeasible; }) == "says \"infeasible\" beside a schedule");
  CHECK(with([](Schedule& s) { s.claim->lower_bound = 3; }).find("says that no II is below 3") == 0);
  CHECK(with([](Schedule& s) { s.claim->lower_bound = 1; }) == "says that II 2 is the least, and that the bound is 1");
  CHECK(with([](Schedule& s) { s.claim->objectives[1].value = 9; }).find("says stages 9, and its schedule has ") == 0);
  CHECK(with([](Schedule& s) { s.ops[1].start = 0; }).find("is beside a schedule that the checker rejects") == 0);
  CHECK(with([](Schedule& s) { s.claim->objectives.push_back({"colour", 4, true}); }) == "stands");
}

TEST_CASE("a claimed bound above what the same order of ops allows is void", "[core]") {
  const Toy toy;
  Schedule schedule = toy.claimed(false);
  schedule.ii = 12;  // the order of the best schedule, far apart
  schedule.ops = test::toy_schedule(toy.problem, true).ops;
  for (std::size_t v = 0; v < schedule.ops.size(); ++v) schedule.ops[v].start = static_cast<Cycle>(3 * v);
  REQUIRE(check(toy.problem, schedule).valid());
  schedule.claim->ii = 12;
  schedule.claim->lower_bound = 12;
  schedule.claim->status = Status::Optimal;
  schedule.claim->objectives.clear();
  CHECK(toy.why(schedule).find("says that no II is below 12, but the same order of ops is legal at II ") == 0);
}

TEST_CASE("what this process proves becomes the certificate, as far as the schedule is as good", "[core]") {
  const Toy toy;
  SolveOutcome outcome;
  outcome.status = Status::Optimal;
  outcome.lower_bound = 2;
  outcome.schedule = test::toy_schedule(toy.problem, true);
  outcome.objectives = {{"ii", 2, true}, {"stages", stage_count(*outcome.schedule), true}};
  Schedule best = toy.claimed(true), worse = toy.claimed(false);
  take_proof(toy.problem, {}, outcome, best);
  take_proof(toy.problem, {}, outcome, worse);
  CHECK_FALSE(best.claim);
  REQUIRE(best.certificate);
  CHECK(best.certificate->status == Status::Optimal);
  CHECK(best.certificate->objectives[1].proved);
  REQUIRE(worse.certificate);
  CHECK(worse.certificate->status == Status::Feasible);
  CHECK(worse.certificate->lower_bound == 2);
  CHECK_FALSE(worse.certificate->objectives[0].proved);
  CHECK_FALSE(worse.certificate->objectives[1].proved);
  CHECK(headline(best, {}).find("II 2 · bound 2 · proved") != std::string::npos);
}
