// Warm re-solve on problems whose answers are known.
#include "solver/search/warm.h"

#include <catch2/catch.hpp>
#include <thread>

#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/search/adapt.h"
#include "solver/search/knowledge.h"
#include "tests/support/problem_builder.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

UserConstraint pin(const std::string& op, Cycle at) {
  UserConstraint c;
  c.name = "pin";
  c.ops = {op};
  c.low = at;
  return c;
}

UserConstraint max_stages(std::int64_t limit) {
  UserConstraint c;
  c.name = "stages";
  c.kind = ConstraintKind::MaxStages;
  c.high = limit;
  return c;
}

SolveRequest shipped(const std::string& kernel, const std::string& machine) {
  SolveRequest request;
  const auto k = load_kernel(kernel);
  const auto m = load_machine(machine);
  REQUIRE(k);
  REQUIRE(m);
  const auto problem = resolve(*k, *m, {});
  REQUIRE(problem);
  request.problem = *problem;
  return request;
}

}  // namespace

TEST_CASE("an edit that only shifts the schedule, and taking it back, ask the solver nothing", "[solver]") {
  SolveRequest request = shipped("attention_forward_hopper", "h100");
  WarmSolver warm(request);
  const SolveOutcome base = warm.solve({});
  REQUIRE(base.status == Status::Optimal);
  const std::string op = request.problem.ops.back().name;
  const Constraints edit{pin(op, base.schedule->ops.back().start + 100)};
  const SolveOutcome moved = warm.solve(edit);
  CHECK(moved.status == Status::Optimal);
  REQUIRE(moved.schedule);
  CHECK(moved.schedule->ii == base.schedule->ii);
  CHECK(check(request.problem, *moved.schedule, edit).valid());
  CHECK(moved.schedule->certificate->objectives.size() == 6);
  const SolveOutcome back = warm.solve({});
  CHECK(back.status == Status::Optimal);
  CHECK(back.queries == 0);
  for (std::size_t i = 0; i < base.objectives.size(); ++i) {
    CHECK(back.objectives[i].value == base.objectives[i].value);
    CHECK(back.objectives[i].proved);
  }
}

TEST_CASE("an edit that costs cycles raises II to the proved optimum, and the next one knows", "[solver]") {
  SolveRequest request;
  request.problem = test::toy_problem();
  WarmSolver warm(request);
  CHECK(warm.solve({}).schedule->ii == 2);
  int incumbents = 0;
  const SolveOutcome one =
      warm.solve({max_stages(1)}, {}, [&](const SolveEvent& e) { incumbents += std::holds_alternative<Incumbent>(e); });
  CHECK(one.status == Status::Optimal);
  CHECK(one.schedule->ii == 3);
  CHECK(one.lower_bound == 3);
  CHECK(incumbents > 0);
  CHECK(warm.solve({max_stages(1)}).queries == 0);
  UserConstraint off = max_stages(1);
  off.enabled = false;
  CHECK(warm.solve({off}).schedule->ii == 2);
}

TEST_CASE("impossible edits are infeasible, meaningless ones invalid, and neither spoils what follows", "[solver]") {
  SolveRequest request;
  request.problem = test::toy_problem();
  WarmSolver warm(request);
  CHECK(warm.solve({pin("S", 5), pin("P", 2)}).status == Status::Infeasible);
  CHECK(warm.solve({pin("S", 5), pin("P", 2), pin("O", 9)}).queries == 0);  // a larger set
  CHECK(warm.solve({pin("nobody", 5)}).status == Status::Invalid);
  CHECK(warm.solve({pin("S", -1)}).status == Status::Infeasible);
  CHECK(warm.solve({}).schedule->ii == 2);
}

TEST_CASE("what solve() answered is taken over", "[solver]") {
  SolveRequest request = shipped("gemm_hopper", "h100");
  WarmSolver warm(request);
  const SolveOutcome cold = solve(request);
  warm.learn({}, cold);
  const SolveOutcome again = warm.solve({});
  CHECK(again.queries == 0);
  CHECK(again.status == Status::Optimal);
  CHECK(again.schedule->ii == cold.schedule->ii);
}

TEST_CASE("a stopped edit says so, and the solver is as good as before", "[solver]") {
  SolveRequest request = shipped("attention_backward_hopper", "h100");
  WarmSolver warm(request);
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    source.request_stop();
  });
  const SolveOutcome stopped = warm.solve({}, source.get_token());
  CHECK((stopped.cancelled || stopped.status == Status::Optimal));
  std::stop_source before;
  before.request_stop();
  const SolveOutcome none = warm.solve({}, before.get_token());
  CHECK(none.cancelled);
  warm.set_timeout(0);
  CHECK(warm.solve({max_stages(2)}).timed_out);
  warm.set_timeout(60);
  const SolveOutcome done = warm.solve({});
  CHECK(done.status == Status::Optimal);
  CHECK(check(request.problem, *done.schedule).valid());
}

TEST_CASE("facts hold for more constraints, never for fewer or other ones", "[solver]") {
  Knowledge knowledge;
  const Constraints pinned{pin("S", 5)}, capped{max_stages(2)};
  knowledge.add({Demands(pinned), 7, BoundReason::Refutation, "because"});
  CHECK(knowledge.bound_for(Demands(pinned)).bound == 7);
  CHECK(knowledge.bound_for(Demands({pin("S", 5), max_stages(2)})).bound == 7);
  CHECK(knowledge.bound_for(Demands({pin("S", 6)})).bound == 0);
  CHECK(knowledge.bound_for(Demands(Constraints{})).bound == 0);
  knowledge.add_floor(Demands(capped), 9, {2, 4});
  CHECK(knowledge.floor_for(Demands({pin("S", 5), max_stages(2)}), 9) == std::vector<std::int64_t>{2, 4});
  CHECK(knowledge.floor_for(Demands(capped), 10).empty());
  // The same demand under another name is the same demand.
  UserConstraint renamed = pin("S", 5);
  renamed.name = "other";
  CHECK(Demands({renamed}).covers(Demands(pinned)));
}

TEST_CASE("pushing moves what is in the way and nothing else", "[solver]") {
  const Problem problem = test::toy_problem();
  SolveRequest request;
  request.problem = problem;
  Schedule schedule = *solve(request).schedule;
  const OpId s = problem.find_op("S"), p = problem.find_op("P");
  const Cycle before = schedule.start(p);
  REQUIRE(push_starts(problem, {pin("P", before + 4)}, schedule));
  CHECK(schedule.start(p) == before + 4);
  CHECK(schedule.start(s) >= 0);
  // Two pins that contradict a dependence end nowhere.
  const bool ended = push_starts(problem, {pin("S", 9), pin("P", 3)}, schedule);
  if (ended) CHECK_FALSE(check(problem, schedule, {pin("S", 9), pin("P", 3)}).valid());
}
