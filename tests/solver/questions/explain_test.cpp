// Explanations of small problems whose reasons are known.
#include "solver/questions/explain.h"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/support/problem_builder.h"
#include "tests/support/random_problem.h"

using namespace heddle;
using namespace heddle::solver;
using heddle::test::ProblemBuilder;
using heddle::test::toy_problem;

namespace {

Explanation explain_problem(Problem problem, std::optional<Cycle> ii = {}, Constraints constraints = {}) {
  ExplainRequest request;
  request.solve.problem = std::move(problem);
  request.solve.constraints = std::move(constraints);
  request.solve.ii = ii;
  return explain(request);
}

const WayOut& way_out(const Explanation& e, const std::string& what) {
  for (const WayOut& r : e.ways_out)
    if (r.what == what) return r;
  FAIL("no way out by " << what);
  return e.ways_out.front();
}

std::vector<std::string> families(const Explanation& e) {
  std::vector<std::string> list;
  for (const ExplanationMember& m : e.members) list.push_back(m.family);
  return list;
}

UserConstraint constraint(std::string name, ConstraintKind kind, std::vector<std::string> ops, std::int64_t low, std::int64_t high = 0) {
  return {std::move(name), true, kind, std::move(ops), "", low, high};
}

/// x and y share a unit; y comes exactly 6 after x, and x at most 2 II - 6 after y: at II 6 they would collide.
Problem collision() {
  ProblemBuilder b({"A"});
  const OpId x = b.op("x", "A", 3), y = b.op("y", "A", 2);
  b.problem.edges.push_back({x, y, {}, 6, 0, 0, false, 0});
  b.problem.edges.push_back({y, x, {}, 6, 2, 0, false, 0});
  return b.problem;
}

}  // namespace

TEST_CASE("a full unit is explained by arithmetic, and a second one is tried", "[solver]") {
  const Explanation e = explain_problem(toy_problem());
  CHECK(e.status == Status::Optimal);
  CHECK(e.ii == 2);
  CHECK_FALSE(e.together);
  REQUIRE(e.members.size() == 1);
  CHECK(e.members[0].family == "unit");
  CHECK(e.members[0].parts.size() == 2);
  CHECK(way_out(e, "capacity of TC").status == Status::Optimal);
  CHECK(way_out(e, "capacity of TC").ii == 1);
}

TEST_CASE("below the bound every bound that forbids the II is told, not only the largest", "[solver]") {
  ProblemBuilder b({"A", "B"});
  const OpId x = b.op("x", "A", 30), y = b.op("y", "B", 20);
  b.edge(x, y);
  b.edge(y, x, 1);
  const Explanation e = explain_problem(b.problem, 15);
  CHECK(e.status == Status::Infeasible);
  CHECK(families(e) == std::vector<std::string>{"recurrence", "unit", "unit"});
  for (const WayOut& r : e.ways_out) CHECK(r.status == Status::Infeasible);
}

TEST_CASE("a refuted II is explained by a core that was checked, member by member", "[solver]") {
  const Explanation e = explain_problem(collision());
  CHECK(e.status == Status::Optimal);
  CHECK(e.ii > 6);
  CHECK(e.refuted == *e.ii - 1);
  CHECK(e.reason == BoundReason::Refutation);
  CHECK(e.together);
  CHECK(e.verified);
  CHECK(families(e) == std::vector<std::string>{"unit", "dependence"});
  for (const ExplanationMember& m : e.members) {
    CHECK(m.needed);
    CHECK_FALSE(m.without.empty());
    CHECK(m.slot >= 0);
  }
  CHECK(way_out(e, "capacity of A").ii == 6);
}

TEST_CASE("an II with a schedule needs no explanation", "[solver]") {
  const Explanation e = explain_problem(toy_problem(), 7);
  CHECK(e.status == Status::Feasible);
  CHECK(e.ii == 7);
  CHECK(e.members.empty());
}

TEST_CASE("user constraints that contradict a dependence are named, and dropping them is tried", "[solver]") {
  const Explanation e =
      explain_problem(toy_problem(), {},
                      {constraint("S at four", ConstraintKind::Pin, {"S"}, 4), constraint("P at two", ConstraintKind::Pin, {"P"}, 2),
                       constraint("idle", ConstraintKind::MaxWarps, {}, 0, 32)});
  CHECK(e.status == Status::Infeasible);
  CHECK_FALSE(e.refuted);
  CHECK(e.verified);
  CHECK(families(e) == std::vector<std::string>{"user", "user", "dependence"});
  CHECK(way_out(e, "'S at four'").status == Status::Optimal);
  CHECK(way_out(e, "'P at two'").ii == 2);
}

TEST_CASE("a refutation that needs registers says so, and whose limit it is", "[solver]") {
  // x is 100 registers and needed 300 cycles later; three copies at II 100 do not fit 255 registers.
  ProblemBuilder b({"A", "B"});
  const OpId x = b.op("x", "A", 100), y = b.op("y", "B", 100);
  b.registers(x, 100, {{y, 0}});
  b.problem.edges[0].latency = 300;
  b.problem.max_groups = 1;
  const Explanation machine = explain_problem(b.problem);
  CHECK(machine.verified);
  CHECK(families(machine) == std::vector<std::string>{"dependence", "groups", "registers"});
  CHECK(way_out(machine, "registers per thread").from == "248");
  bool unlimited = false;
  for (const WayOut& r : machine.ways_out) unlimited |= r.to == "no limit" && r.ii == 100;
  CHECK(unlimited);

  const Explanation user = explain_problem(b.problem, {}, {constraint("few", ConstraintKind::MaxRegisters, {}, 0, 120)});
  CHECK(user.verified);
  REQUIRE(user.members.size() == 3);
  CHECK(user.members[2].family == "user");
  CHECK(user.members[2].what.find("'few': at most 120 registers") == 0);
  for (const WayOut& r : user.ways_out)
    if (r.what == "'few'" && r.to == "dropped") CHECK(r.ii == *machine.ii);
}

TEST_CASE("too few warp groups are named, and one more is tried", "[solver]") {
  ProblemBuilder b({"A", "B"});
  b.op("x", "A", 10, 10);
  b.op("y", "B", 10, 10);
  b.problem.max_groups = 1;
  const Explanation e = explain_problem(b.problem);
  CHECK(e.ii == 20);
  CHECK(families(e) == std::vector<std::string>{"issue"});
  CHECK(way_out(e, "warp groups").ii == 10);
}

TEST_CASE("memory that keeps a ring short is named, and more of it is tried", "[solver]") {
  ProblemBuilder b({"TMA", "TC"});
  const OpId load = b.load("load", "TMA", 10, 350);
  b.ring(load, 1000, {{b.async_op("mma", "TC", 100, 110), 0}});
  b.problem.limits.smem_bytes = 2999;
  const Explanation e = explain_problem(b.problem);
  CHECK(e.ii == 230);
  CHECK(e.verified);
  CHECK(families(e) == std::vector<std::string>{"dependence", "credit", "memory"});
  CHECK(way_out(e, "bytes of shared memory").status == Status::Optimal);
}

TEST_CASE("an op that no machine has enough of is explained without any II", "[solver]") {
  ProblemBuilder b({"TC"});
  b.problem.ops[b.op("wide", "TC", 10).index()].uses[0].amount = 2;
  const Explanation e = explain_problem(b.problem);
  CHECK(e.status == Status::Infeasible);
  CHECK_FALSE(e.refuted);
  CHECK(families(e) == std::vector<std::string>{"unit"});
  CHECK(way_out(e, "capacity of TC").ii == 10);
}

TEST_CASE("an explanation stops when asked and says that it is partial", "[solver]") {
  ExplainRequest request;
  request.solve.problem = test::random_layered_problem(3, 60);
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const Explanation e = explain(request, stop.get_token());
  CHECK(e.cancelled);
  request.solve.timeout_seconds = 0.01;
  CHECK(explain(request).timed_out);
}

TEST_CASE("where dropping one demand is not enough, the next obstacle is told", "[solver]") {
  const Explanation e =
      explain_problem(toy_problem(), {},
                      {constraint("no warps", ConstraintKind::MaxWarps, {}, 0, 0), constraint("P at once", ConstraintKind::Pin, {"P"}, 0)});
  CHECK(e.status == Status::Infeasible);
  REQUIRE(e.members.size() >= 1);
  bool told = false;
  for (const WayOut& r : e.ways_out)
    if (r.to == "dropped")
      told |=
          r.status == Status::Infeasible && (r.then.find("P at once") != std::string::npos || r.then.find("no warps") != std::string::npos);
  CHECK(told);
}
