// Live registers by hand: who counts at the start of whom.
#include "solver/encoding/registers.h"

#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "tests/support/problem_builder.h"

using namespace heddle;
using heddle::test::ProblemBuilder;

namespace {

Schedule schedule_of(const Problem& problem, Cycle ii, std::vector<Placement> ops) {
  Schedule s;
  s.ii = ii;
  s.ops = std::move(ops);
  s.depths.assign(problem.channels.size(), 0);
  derive_groups(problem, s);
  return s;
}

}  // namespace

TEST_CASE("a value is alive from its producer until its last reader starts, which may take over its registers", "[solver]") {
  ProblemBuilder b({"A", "B", "C"});
  const OpId x = b.op("x", "A", 10, 1), y = b.op("y", "B", 10, 1), z = b.op("z", "C", 10, 1);
  b.registers(x, 40, {{y, 0}, {z, 0}});
  b.registers(y, 30, {{z, 0}});
  b.problem.limits.register_overhead = 5;
  const Schedule s = schedule_of(b.problem, 100, {{0, GroupId(0)}, {10, GroupId(0)}, {20, GroupId(0)}});
  CHECK(solver::registers_at(b.problem, s, x) == 5 + 40);
  CHECK(solver::registers_at(b.problem, s, y) == 5 + 40 + 30);
  CHECK(solver::registers_at(b.problem, s, z) == 5);
}

TEST_CASE("an asynchronous reader holds its registers until it retires", "[solver]") {
  ProblemBuilder b({"A", "B", "C"});
  const OpId x = b.op("x", "A", 10, 1), mma = b.async_op("mma", "B", 50, 60), y = b.op("y", "C", 10, 1);
  b.registers(x, 40, {{mma, 0}});
  b.registers(y, 8, {});
  const Schedule held = schedule_of(b.problem, 200, {{0, GroupId(0)}, {10, GroupId(0)}, {69, GroupId(0)}});
  CHECK(solver::registers_at(b.problem, held, y) == 48);
  const Schedule free = schedule_of(b.problem, 200, {{0, GroupId(0)}, {10, GroupId(0)}, {70, GroupId(0)}});
  CHECK(solver::registers_at(b.problem, free, y) == 8);
}

TEST_CASE("copies of several iterations count, and so do values carried to the next one", "[solver]") {
  ProblemBuilder b({"A", "B"});
  const OpId x = b.op("x", "A", 10, 1), y = b.op("y", "B", 10, 1);
  b.registers(x, 10, {{y, 1}});
  // read 1 iteration later at 125: alive for 100 + 125 of every 100 cycles
  const Schedule s = schedule_of(b.problem, 100, {{0, GroupId(0)}, {125, GroupId(0)}});
  CHECK(solver::registers_at(b.problem, s, x) == 30);
}

TEST_CASE("a value read in another group costs registers there only while that reader runs", "[solver]") {
  ProblemBuilder b({"A", "B"});
  const OpId x = b.op("x", "A", 10, 1), y = b.op("y", "B", 10, 1);
  b.registers(x, 10, {{y, 0}}, 92);
  const Schedule s = schedule_of(b.problem, 500, {{0, GroupId(0)}, {102, GroupId(1)}});
  CHECK(solver::registers_at(b.problem, s, x) == 10);
  CHECK(solver::registers_at(b.problem, s, y) == 10);
}

TEST_CASE("budgets are rounded up to the granule, and a group without registers gets the producer's", "[solver]") {
  ProblemBuilder b({"A", "B"});
  const OpId x = b.op("x", "A", 10, 1);
  b.op("y", "B", 10, 1);
  b.registers(x, 41, {});
  Schedule s = schedule_of(b.problem, 500, {{0, GroupId(0)}, {0, GroupId(1)}});
  solver::set_register_budgets(b.problem, s);
  CHECK(s.groups[0].registers == 48);
  CHECK(s.groups[1].registers == 24);
}

TEST_CASE("a group without registers gets whole granules too", "[solver]") {
  ProblemBuilder b({"A", "B"});
  b.op("x", "A", 10, 1), b.op("y", "B", 10, 1);
  b.problem.limits.register_granule = 7;
  b.problem.limits.producer_registers = 24;
  Schedule s = schedule_of(b.problem, 100, {{0, GroupId(0)}, {0, GroupId(1)}});
  solver::set_register_budgets(b.problem, s);
  CHECK(s.groups[0].registers == 28);
  CHECK(check(b.problem, s).valid());
}
