// Rings of programs are as deep as memory allows; where it forces a choice, each that cannot be made deeper counts.
#include "solver/programs/ring_depths.h"

#include <catch2/catch.hpp>

#include "tests/support/problem_builder.h"

using namespace heddle;
using namespace heddle::programs;

namespace {

/// Two loads of 100 and 200 bytes a slot, read by one op.
struct TwoRings {
  test::ProblemBuilder b;
  Schedule schedule;

  explicit TwoRings(std::int64_t bytes) {
    const OpId small = b.load("small", "TC", 1, 10), large = b.load("large", "TC", 1, 10), reader = b.op("reader", "EXP", 5, 5);
    b.ring(small, 100, {{reader, 0}});
    b.ring(large, 200, {{reader, 0}});
    b.problem.limits.smem_bytes = bytes;
    schedule.ops = {{0, GroupId(0)}, {0, GroupId(0)}, {20, GroupId(1)}};
    schedule.groups.resize(2);
  }
  RingDepths depths(const Constraints& constraints = {}) const { return ring_depths(b.problem, schedule, constraints); }
};

}  // namespace

TEST_CASE("with room for all, rings have all slots that they may have, and there is one choice", "[solver][programs]") {
  const RingDepths depths = TwoRings(1 << 20).depths();
  CHECK(depths.choices == std::vector<std::vector<int>>{{8, 8}});
  CHECK(depths.deepest == std::vector<int>{8, 8});
}

TEST_CASE("where memory forces a choice, each that cannot be deeper is there once, the most even one first", "[solver][programs]") {
  const RingDepths depths = TwoRings(700).depths();
  CHECK(depths.choices == std::vector<std::vector<int>>{{3, 2}, {1, 3}, {5, 1}});
  CHECK(depths.deepest == std::vector<int>{8, 8});
  CHECK(depths.all);
}

TEST_CASE("demands for depth and memory are kept, and without a slot for each there is no choice", "[solver][programs]") {
  UserConstraint depth;
  depth.kind = ConstraintKind::MaxDepth;
  depth.channel = "small";
  depth.high = 2;
  CHECK(TwoRings(700).depths({depth}).choices == std::vector<std::vector<int>>{{2, 2}, {1, 3}});
  UserConstraint memory;
  memory.kind = ConstraintKind::MaxSmem;
  memory.high = 300;
  CHECK(TwoRings(700).depths({memory}).choices == std::vector<std::vector<int>>{{1, 1}});
  CHECK(TwoRings(200).depths().choices.empty());
}
