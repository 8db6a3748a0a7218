// What no schedule can do without, on problems small enough to do by hand; tests/property holds it against exhaustive search.
#include "core/analysis/shortage.h"

#include <catch2/catch.hpp>

#include "tests/support/problem_builder.h"

using namespace heddle;
using test::ProblemBuilder;

namespace {

using Kind = Shortage::Kind;

UserConstraint cap(ConstraintKind kind, std::int64_t high) {
  UserConstraint c;
  c.name = "my cap";
  c.kind = kind;
  c.high = high;
  return c;
}

/// The only shortage.
Shortage only(const Problem& problem, const Constraints& constraints = {}) {
  const std::vector<Shortage> found = find_shortages(problem, constraints);
  REQUIRE(found.size() == 1);
  return found[0];
}

}  // namespace

TEST_CASE("one slot of every ring and what stays is the least shared memory, and the sentence names bytes and rings", "[core]") {
  ProblemBuilder b({"TMA", "TC"});
  const OpId a = b.load("a", "TMA", 10, 100), c = b.load("c", "TMA", 10, 100), mma = b.op("mma", "TC", 50);
  b.ring(a, 3000, {{mma, 0}});
  b.ring(c, 2000, {{mma, 0}});
  b.problem.resident_smem = 500;
  b.problem.limits.smem_bytes = 5500;
  CHECK(find_shortages(b.problem, {}).empty());
  b.problem.limits.smem_bytes = 5499;
  const Shortage s = only(b.problem);
  CHECK(s.kind == Kind::Smem);
  CHECK(s.needed == 5500);
  CHECK(s.limit == 5499);
  CHECK(s.channels.size() == 2);
  CHECK(s.sentence == "5500 bytes of shared memory are needed at any II, one slot of every ring at least (500 that stay, " +
                          b.problem.channels[0].name + " 3000, " + b.problem.channels[1].name + " 2000); the machine has 5499");
  CHECK_FALSE(s.constraint);
}

TEST_CASE("a ring that is read iterations later needs a slot for each of them", "[core]") {
  ProblemBuilder b({"TMA", "TC"});
  const OpId a = b.load("a", "TMA", 10, 100), now = b.op("now", "TC", 50), later = b.op("later", "TC", 50);
  b.ring(a, 1000, {{now, 0}, {later, 3}});
  b.edge(now, later);
  // What `later` reads is three iterations old, and it follows `a` of its own iteration.
  CHECK(least_depths(b.problem) == std::vector<std::int64_t>{4});
  b.problem.limits.smem_bytes = 3999;
  CHECK(only(b.problem).needed == 4000);
  b.problem.limits.smem_bytes = 4000;
  b.problem.channels[0].max_depth = 3;
  CHECK(only(b.problem).kind == Kind::Depth);
  b.problem.channels[0].max_depth = 8;
  UserConstraint depth = cap(ConstraintKind::MaxDepth, 2);
  depth.channel = b.problem.channels[0].name;
  CHECK(only(b.problem, {depth}).constraint == 0u);
}

TEST_CASE("a user's cap counts like the machine's limit, and is named; one that is off does not", "[core]") {
  ProblemBuilder b({"TMA", "TC"});
  b.ring(b.load("a", "TMA", 10, 100), 3000, {{b.op("mma", "TC", 50), 0}});
  UserConstraint c = cap(ConstraintKind::MaxSmem, 2999);
  const Shortage s = only(b.problem, {cap(ConstraintKind::MaxStages, 1), c});
  CHECK(s.constraint == 1u);
  CHECK_THAT(s.sentence, Catch::EndsWith("'my cap' allows 2999"));
  c.enabled = false;
  CHECK(find_shortages(b.problem, {c}).empty());
}

TEST_CASE("tensor memory is counted as it is allocated", "[core]") {
  ProblemBuilder b({"TC"});
  const OpId x = b.op("x", "TC", 10);
  b.ring(x, 300, {{b.op("y", "TC", 10), 0}});
  b.problem.channels[0].space = Space::Tmem;
  for (Value& value : b.problem.values) value.space = Space::Tmem;
  b.problem.limits.tmem_columns = 511;
  CHECK(only(b.problem).needed == 512);
  b.problem.limits.tmem_columns = 512;
  CHECK(find_shortages(b.problem, {}).empty());
}

TEST_CASE("an op's results and the operands that stay alive count together; an operand whose registers it takes over does not", "[core]") {
  ProblemBuilder b({"TC"});
  const OpId x = b.op("x", "TC", 10), y = b.op("y", "TC", 10), z = b.op("z", "TC", 10);
  b.registers(x, 100, {{y, 0}});
  b.registers(y, 100, {{z, 0}});
  b.problem.max_groups = 1;
  b.problem.limits.register_overhead = 0;
  b.problem.limits.register_granule = 8;
  b.problem.limits.registers_per_thread = 104;
  CHECK(find_shortages(b.problem, {}).empty());  // in place
  b.problem.edges[0].hold = 10;
  const Shortage s = only(b.problem);
  CHECK(s.kind == Kind::Registers);
  CHECK(s.needed == 200);
  CHECK_THAT(s.sentence, Catch::Contains("200 registers per thread are needed where y starts") && Catch::EndsWith("a thread has 104"));
  b.problem.limits.registers_per_thread = 255;
  CHECK(only(b.problem, {cap(ConstraintKind::MaxRegisters, 199)}).constraint == 0u);
  b.problem.limits.registers_per_sm = 200 * 32 - 1;
  CHECK(only(b.problem).kind == Kind::RegisterFile);
}

TEST_CASE("loads and the rest are two groups, each as wide as its widest op", "[core]") {
  ProblemBuilder b({"TMA", "TC"});
  const OpId load = b.load("load", "TMA", 10, 100), mma = b.op("mma", "TC", 50);
  b.ring(load, 10, {{mma, 0}});
  b.problem.ops[mma.index()].warps = 5;
  b.problem.ops[mma.index()].aligned = true;
  b.problem.limits.warps_per_cta = 8;
  const Shortage s = only(b.problem);
  CHECK(s.kind == Kind::Warps);
  CHECK(s.needed == 9);
  b.problem.limits.warps_per_cta = 9;
  CHECK(find_shortages(b.problem, {}).empty());
  CHECK(only(b.problem, {cap(ConstraintKind::MaxGroups, 1)}).kind == Kind::Groups);
  CHECK(only(b.problem, {cap(ConstraintKind::MaxWarps, 8)}).constraint == 0u);
}
