// Solved problems in the store: the same answer without a search, and never a wrong one.
#include "app/jobs/solve_store.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <set>
#include <vector>

#include "app/ask/time_choice.h"
#include "app/jobs/warm_job.h"
#include "core/answers/summary.h"
#include "core/base/json.h"
#include "core/check/certify.h"
#include "core/check/checker.h"
#include "core/instance/instance.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/app/cli_support.h"

using namespace heddle;
using namespace heddle::app;
using test::ScratchFolder;

#ifdef HEDDLE_HAS_SOLVER
namespace {

Problem shipped(const char* kernel, const char* machine, const Scope& params = {}) {
  return *resolve(*load_kernel(kernel), *load_machine(machine), params);
}

solver::SolveRequest toy_request() {
  solver::SolveRequest request;
  request.problem = shipped("toy_fig1", "toy");
  return request;
}

UserConstraint at_most(ConstraintKind kind, std::int64_t high) {
  UserConstraint constraint;
  constraint.name = "cap";
  constraint.kind = kind;
  constraint.high = high;
  return constraint;
}

struct Answered {
  SolveOutcome outcome;
  bool known = false;
};
Answered ask(const ContentStore& store, const solver::SolveRequest& request, const solver::SolveListener& listener = {}) {
  Answered answer;
  Recalled recalled;
  answer.outcome = solve_or_recall(store, request, {}, listener, &recalled);
  answer.known = recalled.whole;
  return answer;
}

/// Changes one member of the only entry's answer and keeps it again with a right digest.
void tamper(const ContentStore& store, const solver::SolveRequest& request, const std::function<void(Json&)>& change) {
  const std::string key = solve_key(request, solver::solver_version());
  Json answer = *parse_json(*store.find(key), "");
  change(answer);
  REQUIRE(store.put(key, answer.line()));
}

}  // namespace

TEST_CASE("a settled answer comes back word for word, without a search", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 1 << 26});
  for (const char* kernel : {"toy_fig1", "gemm_hopper", "attention_forward_hopper"}) {
    solver::SolveRequest request;
    request.problem = shipped(kernel, std::string(kernel) == "toy_fig1" ? "toy" : "h100");
    const Answered first = ask(store, request), second = ask(store, request);
    CHECK_FALSE(first.known);
    CHECK(second.known);
    CHECK(outcome_text(request.problem, second.outcome) == outcome_text(request.problem, first.outcome));
    CHECK(second.outcome.schedule->certificate->seconds == first.outcome.schedule->certificate->seconds);
    CHECK(same_program(*second.outcome.schedule, *first.outcome.schedule));
    request.timeout_seconds = 5;  // no part of the question
    CHECK(ask(store, request).known);
  }
}

TEST_CASE("what is known of the period is kept with the answer", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 1 << 26});
  const Instance instance(spec_of(*load_kernel("gemm_hopper"), *load_machine("h100")), shipped("gemm_hopper", "h100"));
  solver::SolveRequest request;
  request.problem = instance.problem();
  request.by_time = time_choice(instance);
  const Answered first = ask(store, request), second = ask(store, request);
  CHECK(second.known);
  REQUIRE(first.outcome.schedule->certificate->period);
  REQUIRE(second.outcome.schedule->certificate->period);
  const PeriodProof &found = *first.outcome.schedule->certificate->period, &kept = *second.outcome.schedule->certificate->period;
  CHECK(period_sentence(kept, 1) == period_sentence(found, 1));
  CHECK(kept.digest == found.digest);
  CHECK(kept.numbers == found.numbers);
}

TEST_CASE("proofs that there is no schedule are kept too, and the listener hears of what is known", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 1 << 26});
  solver::SolveRequest request = toy_request();
  request.ii = 1;
  CHECK(ask(store, request).outcome.status == Status::Infeasible);
  const Answered again = ask(store, request);
  CHECK(again.known);
  CHECK(again.outcome.status == Status::Infeasible);
  CHECK_FALSE(again.outcome.schedule);

  request.ii = 3;  // fixed: nothing is claimed about 2
  ask(store, request);
  std::vector<std::size_t> heard;
  const Answered fixed = ask(store, request, [&](const solver::SolveEvent& event) { heard.push_back(event.index()); });
  CHECK(fixed.known);
  CHECK(fixed.outcome.schedule->ii == 3);
  REQUIRE(heard.size() >= 4);
  CHECK(heard[0] == solver::SolveEvent(solver::Started{}).index());
  CHECK(std::count(heard.begin(), heard.end(), solver::SolveEvent(solver::Incumbent{}).index()) == 1);
}

TEST_CASE("another question is not answered with this one's answer", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 1 << 26});
  const solver::SolveRequest toy = toy_request();
  ask(store, toy);
  std::vector<solver::SolveRequest> others(7, toy);
  others[0].seed = 1;
  others[1].ii = 2;
  others[2].max_stages = 3;
  others[3].objectives = {solver::Objective::Warps};
  others[4].constraints = {at_most(ConstraintKind::MaxStages, 1)};
  others[5].problem.ops[0].latency += 1;
  others[6].explain = false;
  std::set<std::string> keys{solve_key(toy, "Z3")};
  for (const solver::SolveRequest& other : others) {
    CHECK_FALSE(ask(store, other).known);
    CHECK(keys.insert(solve_key(other, "Z3")).second);
  }
  CHECK(keys.insert(solve_key(toy, "Z4")).second);
  // What only its caller knows has no key.
  solver::SolveRequest informed = toy;
  informed.cutoff = 2;
  CHECK(solve_key(informed, "Z3").empty());
  informed = toy;
  informed.known_bound = 2;
  CHECK_FALSE(ask(store, informed).known);
  // A demand that is switched off is none.
  solver::SolveRequest off = toy;
  off.constraints = {at_most(ConstraintKind::MaxStages, 1)};
  off.constraints[0].enabled = false;
  CHECK(ask(store, off).known);
}

TEST_CASE("what a time limit or a stop had a part in is not kept", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 1 << 26});
  const solver::SolveRequest request = toy_request();
  const SolveOutcome good = solver::solve(request);
  const auto kept = [&](const std::function<void(SolveOutcome&)>& change) {
    SolveOutcome outcome = good;
    change(outcome);
    return keep_answer(store, request, outcome);
  };
  CHECK_FALSE(kept([](SolveOutcome& o) { o.timed_out = true; }));
  CHECK_FALSE(kept([](SolveOutcome& o) { o.cancelled = true; }));
  CHECK_FALSE(kept([](SolveOutcome& o) { o.cut_off = true; }));
  CHECK_FALSE(kept([](SolveOutcome& o) { o.status = Status::Feasible; }));
  CHECK_FALSE(kept([](SolveOutcome& o) { o.status = Status::Unknown; }));
  CHECK_FALSE(kept([](SolveOutcome& o) { o.objectives.back().proved = false; }));
  CHECK_FALSE(kept([](SolveOutcome& o) { o.objectives.pop_back(); }));
  CHECK(store.entries().empty());
  CHECK(kept([](SolveOutcome&) {}));
}

namespace {

/// As if the toy's search had ended with II 3.
SolveOutcome ended_early(const solver::SolveRequest& request) {
  solver::SolveRequest slower = request;
  slower.ii = 3;
  SolveOutcome outcome = solver::solve(slower);
  outcome.status = Status::Feasible;
  outcome.reason = BoundReason::Resource;
  outcome.explanation = "TC: S + O need 2 cycles";
  outcome.lower_bound = 2;
  outcome.timed_out = true;
  for (ObjectiveValue& objective : outcome.objectives) objective.proved = false;
  certify(request.problem, request.constraints, outcome);
  return outcome;
}

}  // namespace

TEST_CASE("a search that was not finished is kept, and the next one goes on from there and settles it", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 1 << 26});
  const solver::SolveRequest request = toy_request();
  const std::string& solver = solver::solver_version();
  const SolveOutcome early = ended_early(request);
  CHECK_FALSE(keep_answer(store, request, early));
  REQUIRE(keep_so_far(store, request, early));
  CHECK_FALSE(find_answer(store, request, solver));
  const auto so_far = find_so_far(store, request, solver);
  REQUIRE(so_far);
  CHECK(so_far->schedule->ii == 3);
  CHECK(so_far->lower_bound == 2);
  CHECK(so_far_text(*so_far) == "goes on from an earlier search: II 3, no II below 2");
  CHECK_FALSE(keep_so_far(store, request, early));  // no further than what is kept
  SolveOutcome worse = early;
  worse.schedule.reset();
  worse.status = Status::Unknown;
  CHECK_FALSE(keep_so_far(store, request, worse));
  // Other questions do not hear of it, whoever fixes II neither.
  solver::SolveRequest other = request;
  other.constraints = {at_most(ConstraintKind::MaxStages, 1)};
  CHECK_FALSE(find_so_far(store, other, solver));
  other = request;
  other.ii = 3;
  CHECK_FALSE(find_so_far(store, other, solver));

  Recalled recalled;
  std::vector<Cycle> found;
  const SolveOutcome outcome = solve_or_recall(
      store, request, {},
      [&](const solver::SolveEvent& event) {
        if (const auto* incumbent = std::get_if<solver::Incumbent>(&event)) found.push_back(incumbent->schedule.ii);
      },
      &recalled);
  CHECK(recalled.sentence == so_far_text(*so_far));
  CHECK_FALSE(recalled.whole);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front() == 3);  // it begins with what is known
  CHECK(outcome.status == Status::Optimal);
  CHECK(outcome.schedule->ii == 2);
  CHECK(find_answer(store, request, solver));  // from now on it is settled
}

TEST_CASE("short searches, stopped ones and one op after the other are not worth keeping", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 1 << 26});
  const solver::SolveRequest request = toy_request();
  SolveOutcome outcome = ended_early(request);
  outcome.timed_out = false;
  outcome.cancelled = true;
  outcome.seconds.total = 0.1;
  CHECK_FALSE(keep_so_far(store, request, outcome));
  outcome.seconds.total = 20;
  outcome.serial = true;
  REQUIRE(keep_so_far(store, request, outcome));
  const auto so_far = find_so_far(store, request, solver::solver_version());
  REQUIRE(so_far);
  CHECK_FALSE(so_far->schedule);
  CHECK(so_far->lower_bound == 2);
  CHECK(so_far_text(*so_far) == "goes on from an earlier search: no schedule yet, no II below 2");
}

TEST_CASE("a bound that speaks of few stages goes on speaking of few", "[app]") {
  solver::SolveRequest request = toy_request();
  request.problem = shipped("attention_forward_blackwell", "b200");
  request.objectives.clear();
  request.timeout_seconds = 0;  // what is told is all that there is
  request.known_bound = 4000;
  request.known_bound_why = "told";
  CHECK_FALSE(solver::solve(request).bound_stages);
  request.known_bound_stages = 4;
  const SolveOutcome outcome = solver::solve(request);
  CHECK(outcome.lower_bound == 4000);
  CHECK(outcome.bound_stages == 4);
}

TEST_CASE("an entry that was changed with care is still judged by the checker", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 1 << 26});
  const solver::SolveRequest request = toy_request();
  const auto refused = [&](const std::function<void(Json&)>& change) {
    REQUIRE(store.clear());
    ask(store, request);
    tamper(store, request, change);
    const Answered answer = ask(store, request);
    CHECK(answer.outcome.schedule->ii == 2);
    CHECK(check(request.problem, *answer.outcome.schedule).valid());
    return !answer.known;
  };
  CHECK_FALSE(refused([](Json&) {}));
  CHECK(refused([](Json& a) { a.find("schedule")->find("ops")->items()->at(1).set("start", 0).set("stage", 0).set("slot", 0); }));
  CHECK(refused([](Json& a) { a.find("schedule")->set("ii", 1); }));
  CHECK(refused([](Json& a) { a.set("lower_bound", 1); }));
  CHECK(refused([](Json& a) { a.set("lower_bound", 9); }));
  CHECK(refused([](Json& a) { a.set("solver", "Z3 0.1"); }));
  CHECK(refused([](Json& a) { a.set("status", "infeasible"); }));
  CHECK(refused([](Json& a) { a.set("status", "feasible"); }));
  CHECK(refused([](Json& a) { a.set("schedule", 7); }));
  CHECK(refused([](Json& a) { a = Json::array(); }));
}

TEST_CASE("the window's solver finds what the command line has proved, and the reverse", "[app]") {
  const ScratchFolder scratch;
  ::setenv("HEDDLE_STORE", scratch.path("store").c_str(), 1);
  const SolveFunction window = warm_solver();
  const test::CliRun line = test::run_heddle({"solve", "toy_fig1", "toy"});
  CHECK(line.err.find("known from an earlier search") == std::string::npos);
  std::string log;
  const SolveOutcome outcome = window(toy_request(), {}, [&](const solver::SolveEvent& event) {
    if (const auto* said = std::get_if<solver::LogLine>(&event)) log += said->text;
  });
  CHECK(log.find("known from an earlier search") != std::string::npos);
  CHECK(outcome.status == Status::Optimal);
  solver::SolveRequest other = toy_request();
  other.seed = 5;
  window(other, {}, [](const solver::SolveEvent&) {});
  CHECK(test::run_heddle({"solve", "toy_fig1", "toy", "--seed", "5"}).err.find("known") ==
        std::string::npos);  // the window was warm by then
  CHECK(test::run_heddle({"solve", "toy_fig1", "toy"}).err.find("known from an earlier search") != std::string::npos);
  CHECK(test::run_heddle({"solve", "toy_fig1", "toy", "--no-store"}).err.find("known") == std::string::npos);
  ::setenv("HEDDLE_STORE", "off", 1);
}

TEST_CASE("window and command line go on from each other's unfinished searches, and know each other's proofs", "[app]") {
  const ScratchFolder scratch;
  ::setenv("HEDDLE_STORE", scratch.path("store").c_str(), 1);
  const solver::SolveRequest request = toy_request();
  REQUIRE(keep_so_far(ContentStore(), request, ended_early(request)));
  const RecallFunction recall = kept_proofs();
  REQUIRE(recall(request));
  CHECK(recall(request)->status == Status::Feasible);
  // The window starts from the schedule that it shows; the bound comes from the store.
  const SolveFunction window = warm_solver();
  std::string log;
  solver::SolveRequest shown = request;
  shown.incumbent = ended_early(request).schedule;
  CHECK(window(shown, {}, [&](const solver::SolveEvent& event) {
          if (const auto* said = std::get_if<solver::LogLine>(&event)) log += said->text;
        }).status == Status::Optimal);
  CHECK(log.find("goes on from an earlier search: II 3, no II below 2") != std::string::npos);
  REQUIRE(recall(request));
  CHECK(recall(request)->status == Status::Optimal);
  const test::CliRun line = test::run_heddle({"solve", "toy_fig1", "toy"});
  CHECK(line.err.find("goes on from an earlier search: II 2, no II below 2 (--no-store begins anew)") != std::string::npos);
  CHECK(line.out.find("proved") != std::string::npos);
  CHECK(test::run_heddle({"solve", "toy_fig1", "toy"}).err.find("known from an earlier search") != std::string::npos);
  CHECK(test::run_heddle({"solve", "toy_fig1", "toy", "--no-store"}).err.find("earlier") == std::string::npos);
  ::setenv("HEDDLE_STORE", "off", 1);
}
#endif
