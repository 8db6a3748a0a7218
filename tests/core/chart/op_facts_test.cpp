// What is said of a bar: where its latency comes from.
#include "core/chart/op_facts.h"

#include <catch2/catch.hpp>

#include "tests/support/gantt_fixture.h"

using namespace heddle;

TEST_CASE("a latency names its rule and the rule's source, or the kernel, and says when it was changed", "[core]") {
  test::GanttCase toy = test::toy_case();
  Machine machine;
  machine.name = "h100";
  machine.rules.resize(1);
  machine.rules[0].kind = "mma.ss";
  machine.rules[0].source = "measured by others";
  toy.problem.ops[0].rule = "mma.ss";
  toy.problem.ops[1].rule = "gone";
  CHECK(latency_source(machine, toy.problem, OpId(0)) == "rule mma.ss of h100: measured by others");
  CHECK(latency_source(machine, toy.problem, OpId(1)).empty());
  CHECK(latency_source(machine, toy.problem, OpId(2)) == "the kernel gives it");
  toy.problem.changes = {toy.problem.ops[2].name + ".latency=600", "mma.ss.latency=+10%"};
  CHECK(latency_source(machine, toy.problem, OpId(2)) == "the kernel gives it · changed");
  CHECK(latency_source(machine, toy.problem, OpId(0)) == "rule mma.ss of h100: measured by others · changed");
}
