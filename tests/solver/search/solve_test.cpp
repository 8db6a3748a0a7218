// The search as its users see it: statuses, bounds, objectives, constraints, events, cancellation.
#include "solver/search/solve.h"

#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "core/check/checker.h"
#include "solver/search/serial.h"
#include "tests/support/problem_builder.h"
#include "tests/support/solver/cross_check.h"

using namespace heddle;
using namespace heddle::solver;
using heddle::test::ProblemBuilder;
using heddle::test::toy_problem;

namespace {

SolveOutcome solve_problem(Problem problem, Constraints constraints = {}) {
  SolveRequest request;
  request.problem = std::move(problem);
  request.constraints = std::move(constraints);
  return solve(request);
}

std::int64_t objective(const SolveOutcome& outcome, const std::string& name) {
  for (const ObjectiveValue& o : outcome.objectives)
    if (o.name == name) return o.value;
  FAIL("no objective " << name);
  return 0;
}

UserConstraint constraint(ConstraintKind kind, std::vector<std::string> ops, std::int64_t low, std::int64_t high = 0) {
  return {to_string(kind), true, kind, std::move(ops), "", low, high};
}

/// Ops on three units with recurrences near the resource bound, so that bounds do not hold and proofs take conflicts.
Problem mixed_problem(int ops) {
  ProblemBuilder b({"A", "B", "C"});
  const char* units[] = {"A", "B", "C"};
  std::mt19937 random(12345);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::vector<OpId> ids;
  for (int i = 0; i < ops; ++i) {
    const Cycle cycles = 20 + static_cast<Cycle>(below(80));
    ids.push_back(b.op("op" + std::to_string(i), units[below(3)], cycles, cycles / 2));
    for (int e = 0; e < 2 && i > 0; ++e) b.edge(ids[below(static_cast<std::size_t>(i))], ids.back(), 0, 30);
  }
  for (int i = 0; i < ops / 4; ++i) b.edge(ids.back(), ids[below(static_cast<std::size_t>(ops / 2))], 3, 30);
  b.problem.max_groups = 3;
  return b.problem;
}

}  // namespace

TEST_CASE("the toy of the Twill paper has II 2 and length 4", "[solver]") {
  const Problem problem = toy_problem();
  const SolveOutcome outcome = solve_problem(problem);
  REQUIRE(outcome.schedule);
  CHECK(outcome.status == Status::Optimal);
  CHECK(outcome.schedule->ii == 2);
  CHECK(outcome.lower_bound == 2);
  CHECK(schedule_length(problem, *outcome.schedule) == 4);
  CHECK(objective(outcome, "stages") == 2);
  CHECK(check(problem, *outcome.schedule).valid());
  for (const ObjectiveValue& o : outcome.objectives) CHECK(o.proved);
}

TEST_CASE("an II below the bound is refused with the bound as the reason", "[solver]") {
  SolveRequest request;
  request.problem = toy_problem();
  request.ii = 1;
  const SolveOutcome outcome = solve(request);
  CHECK(outcome.status == Status::Infeasible);
  CHECK_FALSE(outcome.schedule);
  CHECK(outcome.explanation.find("lower bound 2") != std::string::npos);
}

TEST_CASE("a requested II above the bound is met and nothing is claimed about smaller ones", "[solver]") {
  SolveRequest request;
  request.problem = toy_problem();
  request.ii = 3;
  const SolveOutcome outcome = solve(request);
  CHECK(outcome.status == Status::Feasible);
  REQUIRE(outcome.schedule);
  CHECK(outcome.schedule->ii == 3);
  CHECK(outcome.reason == BoundReason::Requested);
}

TEST_CASE("an II above all simple bounds is proved by refuting the one below", "[solver]") {
  // x and y share a unit; y comes exactly 6 after x, and x at most 2 II - 4 after y: at II 6 they would collide.
  ProblemBuilder b({"A"});
  const OpId x = b.op("x", "A", 3), y = b.op("y", "A", 2);
  b.problem.edges.push_back({x, y, {}, 6, 0, 0, false, 0});
  b.problem.edges.push_back({y, x, {}, 6, 2, 0, false, 0});
  const SolveOutcome outcome = solve_problem(b.problem);
  REQUIRE(outcome.schedule);
  CHECK(outcome.status == Status::Optimal);
  CHECK(outcome.schedule->ii > 6);
  CHECK(outcome.reason == BoundReason::Refutation);
  CHECK(outcome.explanation.find("any number of stages") != std::string::npos);
}

TEST_CASE("a chain as long as many iterations is pipelined as deep as it takes, and proved for any number of stages", "[solver]") {
  // Ten ops of latency 20, each on a unit of its own, fit II 5 in 37 stages; only the last step is carried.
  std::vector<std::string> units;
  for (int i = 0; i < 10; ++i) units.push_back("U" + std::to_string(i));
  ProblemBuilder b(units);
  OpId previous;
  for (int i = 0; i < 10; ++i) {
    const OpId op = b.async_op("op" + std::to_string(i), units[static_cast<std::size_t>(i)], 5, 20, 0);
    if (previous.valid()) b.edge(previous, op);
    previous = op;
  }
  const SolveOutcome outcome = solve_problem(b.problem);
  REQUIRE(outcome.schedule);
  CHECK(outcome.status == Status::Optimal);
  CHECK(outcome.schedule->ii == 5);
  CHECK(stage_count(*outcome.schedule) == 37);
}

TEST_CASE("the ring of a slow load gets as many slots as its latency needs", "[solver]") {
  ProblemBuilder b({"TMA", "TC"});
  const OpId load = b.load("load", "TMA", 10, 350);
  const OpId mma = b.async_op("mma", "TC", 100, 110);
  b.ring(load, 1000, {{mma, 0}});
  const SolveOutcome outcome = solve_problem(b.problem);
  REQUIRE(outcome.schedule);
  CHECK(outcome.schedule->ii == 100);
  CHECK(outcome.schedule->depths[0] == 5);  // ceil((350 + 110) / 100)
  CHECK(objective(outcome, "smem") == 5000);
}

TEST_CASE("too little shared memory for that ring costs II, not correctness", "[solver]") {
  ProblemBuilder b({"TMA", "TC"});
  const OpId load = b.load("load", "TMA", 10, 350);
  const OpId mma = b.async_op("mma", "TC", 100, 110);
  b.ring(load, 1000, {{mma, 0}});
  b.problem.limits.smem_bytes = 2999;
  const SolveOutcome outcome = solve_problem(b.problem);
  REQUIRE(outcome.schedule);
  CHECK(outcome.schedule->ii == 230);  // 460 cycles over two slots
  CHECK(outcome.status == Status::Optimal);
}

TEST_CASE("a value larger than shared memory is infeasible, and the reason names memory", "[solver]") {
  ProblemBuilder b({"TMA", "TC"});
  const OpId load = b.load("load", "TMA", 10, 350);
  b.ring(load, 1000, {{b.async_op("mma", "TC", 100, 110), 0}});
  b.problem.limits.smem_bytes = 999;
  const SolveOutcome outcome = solve_problem(b.problem);
  CHECK(outcome.status == Status::Infeasible);
  CAPTURE(outcome.explanation);
  CHECK(outcome.explanation.find("1000 bytes of shared memory are needed at any II") != std::string::npos);
  CHECK(outcome.explanation.find("the machine has 999") != std::string::npos);
  CHECK(outcome.queries == 0);
}

TEST_CASE("a value that takes no registers makes its group one that touches registers", "[solver]") {
  ProblemBuilder b({"TC"});
  const OpId x = b.op("x", "TC", 4), y = b.op("y", "TC", 4);
  b.registers(x, 0, {{y, 0}});
  b.problem.limits.register_overhead = 32;
  b.problem.limits.producer_registers = 24;
  const SolveOutcome outcome = solve_problem(b.problem);
  CHECK(outcome.status == Status::Optimal);
  CHECK(check(b.problem, serial_schedule(b.problem, {}, serial_ii(b.problem))).valid());
}

TEST_CASE("an op that needs more of a unit than there is has no II at all", "[solver]") {
  ProblemBuilder b({"TC"});
  const OpId op = b.op("wide", "TC", 10);
  b.problem.ops[op.index()].uses[0].amount = 2;
  const SolveOutcome outcome = solve_problem(b.problem);
  CHECK(outcome.status == Status::Infeasible);
  CHECK(outcome.explanation.find("wide") != std::string::npos);
}

TEST_CASE("registers limit how many copies of a value are alive", "[solver]") {
  // x is 100 registers and needed 300 cycles later; three copies at II 100 do not fit 255 registers.
  ProblemBuilder b({"A", "B"});
  const OpId x = b.op("x", "A", 100), y = b.op("y", "B", 100);
  b.registers(x, 100, {{y, 0}});
  b.problem.edges[0].latency = 300;
  b.problem.max_groups = 1;
  const SolveOutcome outcome = solve_problem(b.problem);
  REQUIRE(outcome.schedule);
  CHECK(check(b.problem, *outcome.schedule).valid());
  CHECK(outcome.schedule->ii == 150);  // two copies: 300 / 2
  CHECK(outcome.status == Status::Optimal);
}

TEST_CASE("every kind of user constraint is honoured", "[solver]") {
  using Holds = std::function<bool(const Schedule&)>;
  const std::vector<std::pair<UserConstraint, Holds>> cases{
      {constraint(ConstraintKind::Pin, {"P"}, 5), [](const Schedule& s) { return s.ops[1].start == 5; }},
      {constraint(ConstraintKind::Range, {"S"}, 3, 4), [](const Schedule& s) { return s.ops[0].start >= 3 && s.ops[0].start <= 4; }},
      {constraint(ConstraintKind::InGroup, {"P"}, 0), [](const Schedule& s) { return s.ops[1].group == GroupId(0); }},
      {constraint(ConstraintKind::InGroup, {"P"}, 1), [](const Schedule& s) { return s.ops[1].group == GroupId(1); }},
      {constraint(ConstraintKind::NotInGroup, {"S", "P", "O"}, 0),
       [](const Schedule& s) { return s.groups.size() == 2 && s.groups[0].warps == 0; }},
      {constraint(ConstraintKind::DifferentGroup, {"S", "P"}, 0), [](const Schedule& s) { return s.ops[0].group != s.ops[1].group; }},
      {constraint(ConstraintKind::SameGroup, {"S", "P", "O"}, 0), [](const Schedule& s) { return s.groups.size() == 1; }},
      {constraint(ConstraintKind::Before, {"S", "O"}, 7), [](const Schedule& s) { return s.ops[2].start - s.ops[0].start >= 7; }},
      {constraint(ConstraintKind::SameStage, {"P", "O"}, 0), [](const Schedule& s) { return s.stage(OpId(1)) == s.stage(OpId(2)); }},
      {constraint(ConstraintKind::EarlierStage, {"S", "O"}, 3), [](const Schedule& s) { return s.stage(OpId(2)) - s.stage(OpId(0)) >= 3; }},
      {constraint(ConstraintKind::MaxStages, {}, 0, 1), [](const Schedule& s) { return stage_count(s) == 1; }},
      {constraint(ConstraintKind::MaxWarps, {}, 0, 1), [](const Schedule& s) { return s.groups.size() == 1; }},
      {constraint(ConstraintKind::MaxGroups, {}, 0, 1), [](const Schedule& s) { return s.groups.size() == 1; }},
      {constraint(ConstraintKind::IIRange, {}, 5, 7), [](const Schedule& s) { return s.ii == 5; }},
      {constraint(ConstraintKind::IIRange, {}, 1, 2), [](const Schedule& s) { return s.ii == 2; }},
      {constraint(ConstraintKind::ClosedGroup, {"S"}, 0), [](const Schedule& s) { return s.ops[0].group == s.ops[1].group; }},
      {constraint(ConstraintKind::MaxWidthRegisters, {}, 0, 768), [](const Schedule& s) { return s.groups.size() == 1; }},
      {constraint(ConstraintKind::OneByOne, {}, 0), [](const Schedule& s) { return !s.ops.empty(); }},  // the checker has judged it
  };
  for (const auto& [wanted, holds] : cases) {
    const Problem problem = toy_problem();
    const SolveOutcome outcome = solve_problem(problem, {wanted});
    CAPTURE(wanted.name, outcome.explanation);
    REQUIRE(outcome.schedule);
    CHECK(holds(*outcome.schedule));
    CHECK(check(problem, *outcome.schedule, {wanted}).valid());
  }
}

TEST_CASE("a cap on II that is below the least is infeasible, and says why", "[solver]") {
  const SolveOutcome outcome = solve_problem(toy_problem(), {constraint(ConstraintKind::IIRange, {}, 1, 1)});
  CHECK(outcome.status == Status::Infeasible);
  CHECK_FALSE(outcome.schedule);
  CHECK(outcome.lower_bound == 2);
  CAPTURE(outcome.explanation);
  CHECK(outcome.explanation.find("demands an II of at most 1, and no schedule has one") != std::string::npos);
}

TEST_CASE("what a unit is needed for in sum bounds II, and is proved and checked like any other use", "[solver]") {
  Problem problem = toy_problem();
  problem.ops[0].uses[0].in_sum = 9;
  const SolveOutcome outcome = solve_problem(problem);
  REQUIRE(outcome.schedule);
  CHECK(outcome.status == Status::Optimal);
  CHECK(outcome.schedule->ii == 10);  // 9 of S and 1 of O
  SolveRequest below;
  below.problem = problem;
  below.ii = 9;
  CHECK(solve(below).status == Status::Infeasible);
  CHECK(cross_check(problem, {}, 9, 3, 10).answer == Answer::No);
  CHECK(cross_check(problem, {}, 10, 3, 10).answer == Answer::Yes);
}

TEST_CASE("rings counted by stages bound II where an iteration is long", "[solver]") {
  // S in the first cycle and O in the eighth or later: two stages hold both from II 4 on.
  const UserConstraint apart = constraint(ConstraintKind::Before, {"S", "O"}, 7);
  UserConstraint rings = constraint(ConstraintKind::MaxStageSmem, {}, 0, 200);
  rings.rings = {{"S", {"O"}, 100}};
  const SolveOutcome two = solve_problem(toy_problem(), {apart, rings});
  CAPTURE(two.explanation);
  REQUIRE(two.schedule);
  CHECK(two.status == Status::Optimal);
  CHECK(two.schedule->ii == 4);
  rings.high = 99;
  CHECK(solve_problem(toy_problem(), {rings}).status == Status::Infeasible);
}

TEST_CASE("rings between groups take memory only where a schedule hands them over", "[solver]") {
  UserConstraint rings = constraint(ConstraintKind::MaxCrossingSmem, {}, 100, 199);
  rings.rings = {{"S", {"O"}, 100}};
  const auto apart = constraint(ConstraintKind::DifferentGroup, {"S", "O"}, 0);
  CHECK(solve_problem(toy_problem(), {rings}).status == Status::Optimal);
  CHECK(solve_problem(toy_problem(), {rings, apart}).status == Status::Infeasible);
  rings.high = 200;
  CHECK(solve_problem(toy_problem(), {rings, apart}).status == Status::Optimal);
  rings.high = 99;  // less than is taken anyway
  CHECK(solve_problem(toy_problem(), {rings}).status == Status::Infeasible);
}

TEST_CASE("a constraint that is switched off changes nothing", "[solver]") {
  UserConstraint one_stage = constraint(ConstraintKind::MaxStages, {}, 0, 1);
  one_stage.enabled = false;
  CHECK(solve_problem(toy_problem(), {one_stage}).schedule->ii == 2);
}

TEST_CASE("a demand that needs a long iteration gets a long II, not a proof that there is none", "[solver]") {
  const auto late = constraint(ConstraintKind::Pin, {"S"}, 1000);
  const SolveOutcome pinned = solve_problem(toy_problem(), {late});
  REQUIRE(pinned.schedule);
  CHECK(pinned.status == Status::Optimal);
  CHECK(pinned.schedule->ii == 168);  // S in the last of 6 stages, with room for P and O: 5 * 168 + 160 = 1000
  const SolveOutcome apart = solve_problem(toy_problem(), {constraint(ConstraintKind::Before, {"S", "O"}, 100)});
  REQUIRE(apart.schedule);
  CHECK(apart.status == Status::Optimal);
}

TEST_CASE("with pins a refuted II says nothing about smaller ones", "[solver]") {
  // S and O share a unit: 12 cycles apart they collide at every divisor of 12, so 5 fits and 6 does not.
  const Constraints pins{constraint(ConstraintKind::Pin, {"S"}, 0), constraint(ConstraintKind::Pin, {"O"}, 12)};
  const SolveOutcome outcome = solve_problem(toy_problem(), pins);
  CAPTURE(outcome.explanation);
  REQUIRE(outcome.schedule);
  CHECK(outcome.status == Status::Optimal);
  CHECK(outcome.schedule->ii == 5);
}

TEST_CASE("one refuted II is not called infeasible for every II and every number of stages", "[solver]") {
  SolveRequest request;
  request.problem = toy_problem();
  request.constraints = {constraint(ConstraintKind::Pin, {"S"}, 1000)};
  request.ii = 34;
  const SolveOutcome outcome = solve(request);
  CHECK(outcome.status == Status::Infeasible);
  CHECK(outcome.reason == BoundReason::Requested);
  CHECK(outcome.explanation.find("no schedule at II 34 with at most 6 stages") == 0);
}

TEST_CASE("a value kept for many iterations takes as many registers", "[solver]") {
  for (const int distance : {6, 40, 200, 300, 1000}) {
    ProblemBuilder b({"A"});
    const OpId x = b.op("x", "A", 1), y = b.op("y", "A", 1);
    b.registers(x, 1, {{y, distance}});
    b.problem.limits.registers_per_thread = 256;
    const SolveOutcome outcome = solve_problem(b.problem);
    CAPTURE(distance, outcome.explanation);
    CHECK(outcome.status == (distance < 256 ? Status::Optimal : Status::Infeasible));
  }
}

TEST_CASE("contradicting user constraints are named in the explanation", "[solver]") {
  UserConstraint a = constraint(ConstraintKind::Pin, {"S"}, 4);
  a.name = "S at four";
  UserConstraint b = constraint(ConstraintKind::Pin, {"P"}, 2);
  b.name = "P at two";
  const SolveOutcome outcome = solve_problem(toy_problem(), {a, b});
  CHECK(outcome.status == Status::Infeasible);
  CAPTURE(outcome.explanation);
  CHECK(outcome.explanation.find("S at four") != std::string::npos);
  CHECK(outcome.explanation.find("P at two") != std::string::npos);
}

TEST_CASE("a constraint on an unknown op is invalid, not ignored", "[solver]") {
  const SolveOutcome outcome = solve_problem(toy_problem(), {constraint(ConstraintKind::Pin, {"Q"}, 0)});
  CHECK(outcome.status == Status::Invalid);
  CHECK(outcome.explanation.find("'Q'") != std::string::npos);
}

TEST_CASE("a constraint on a group that cannot exist is invalid, and says which groups there are", "[solver]") {
  const SolveOutcome outcome = solve_problem(toy_problem(), {constraint(ConstraintKind::InGroup, {"P"}, 77)});
  CHECK(outcome.status == Status::Invalid);
  CHECK(outcome.explanation.find("groups 0 to 1") != std::string::npos);
}

TEST_CASE("events tell the story in order: bounds rise, incumbents fall", "[solver]") {
  SolveRequest request;
  request.problem = mixed_problem(14);
  std::vector<Cycle> bounds, incumbents;
  bool started = false;
  const SolveOutcome outcome = solve(request, {}, [&](const SolveEvent& event) {
    if (std::holds_alternative<Started>(event)) started = true;
    if (const auto* e = std::get_if<BoundRaised>(&event)) bounds.push_back(e->lower_bound);
    if (const auto* e = std::get_if<Incumbent>(&event)) incumbents.push_back(e->schedule.ii);
  });
  CHECK(started);
  CHECK(std::is_sorted(bounds.begin(), bounds.end()));
  CHECK(std::is_sorted(incumbents.rbegin(), incumbents.rend()));
  CHECK(outcome.status == Status::Optimal);
  CHECK(bounds.back() == outcome.schedule->ii);
}

TEST_CASE("the same request and seed give the same schedule", "[solver]") {
  const auto starts = [](const SolveOutcome& o) {
    std::vector<std::pair<Cycle, std::size_t>> all;
    for (const Placement& p : o.schedule->ops) all.emplace_back(p.start, p.group.index());
    return all;
  };
  const SolveOutcome first = solve_problem(mixed_problem(10)), second = solve_problem(mixed_problem(10));
  REQUIRE(first.schedule);
  CHECK(starts(first) == starts(second));
}

TEST_CASE("a stop request ends the search with what it has", "[solver]") {
  SolveRequest request;
  request.problem = mixed_problem(60);
  request.timeout_seconds = 120;
  const int delay_ms = GENERATE(0, 1, 30, 300);
  std::stop_source source;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    source.request_stop();
  });
  const SolveOutcome outcome = solve(request, source.get_token());
  CHECK((outcome.cancelled || outcome.status == Status::Optimal));
  if (outcome.schedule) CHECK(check(request.problem, *outcome.schedule).valid());
}

TEST_CASE("one op after the other is legal where one group suffices", "[solver]") {
  const Problem problem = mixed_problem(40);
  const Schedule serial = serial_schedule(problem, {}, serial_ii(problem));
  CHECK(check(problem, serial).valid());
  CHECK(stage_count(serial) == 1);
}

TEST_CASE("a time limit of nothing gives bounds, one op after the other, and no proof", "[solver]") {
  SolveRequest request;
  request.problem = mixed_problem(20);
  request.timeout_seconds = 0;
  const SolveOutcome outcome = solve(request);
  CHECK(outcome.status == Status::Feasible);
  CHECK(outcome.timed_out);
  CHECK(outcome.serial);
  CHECK(outcome.lower_bound >= 1);
  REQUIRE(outcome.schedule);
  CHECK(stage_count(*outcome.schedule) == 1);
  CHECK(check(request.problem, *outcome.schedule).valid());
  CHECK(outcome.schedule->certificate->status == Status::Feasible);
  for (const ObjectiveValue& o : outcome.objectives) CHECK_FALSE(o.proved);
}

TEST_CASE("one op after the other is no answer where it breaks a rule, and none to a smaller II", "[solver]") {
  SolveRequest request;
  request.problem = mixed_problem(20);
  request.timeout_seconds = 0;
  request.ii = serial_ii(request.problem) - 1;
  CHECK_FALSE(solve(request).schedule);
  request.ii = serial_ii(request.problem);
  CHECK(solve(request).serial);
  request.ii.reset();
  request.constraints = {constraint(ConstraintKind::Pin, {request.problem.ops[0].name}, 7)};
  const SolveOutcome outcome = solve(request);
  CHECK_FALSE(outcome.schedule);
  CHECK(outcome.status == Status::Unknown);
}

TEST_CASE("a long chain has an answer, however little time there is", "[solver]") {
  ProblemBuilder b({"TC"});
  OpId before;
  for (int i = 0; i < 3000; ++i) {
    const OpId op = b.op("op" + std::to_string(i), "TC", 1, 1);
    if (before.valid()) b.registers(before, 1, {{op, 0}});
    before = op;
  }
  b.problem.max_groups = 1;
  SolveRequest request;
  request.problem = b.problem;
  request.timeout_seconds = 0.5;
  const SolveOutcome outcome = solve(request);
  REQUIRE(outcome.schedule);
  CHECK(outcome.lower_bound == 3000);
  CHECK(outcome.seconds.total < 20);  // loaded machines and sanitizers included
}

TEST_CASE("a demand that is switched off may name a group that there is not", "[solver]") {
  UserConstraint off = constraint(ConstraintKind::InGroup, {"S"}, 7);
  off.enabled = false;
  CHECK(solve_problem(toy_problem(), {off}).status == Status::Optimal);
}

TEST_CASE("a wide op beside an aligned one makes a group of whole quarters", "[solver]") {
  Problem p = toy_problem();
  p.max_groups = 1;
  p.ops[0].warps = 5;
  p.ops[1].warps = 1;
  p.ops[1].aligned = true;
  p.limits.warps_per_cta = 8;
  const SolveOutcome fits = solve_problem(p);
  REQUIRE(fits.schedule);
  CHECK(fits.schedule->groups[0].warps == 8);
  p.limits.warps_per_cta = 7;
  CHECK(solve_problem(p).status == Status::Infeasible);
}
