// Schedules and refutations that need no Z3, on the kernel that they were made for.
#include <catch2/catch.hpp>

#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/search/objectives.h"
#include "solver/search/seek.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

constexpr Cycle kLeast = 2688;

Problem backward(int groups) {
  Problem problem = resolve(load_kernel("attention_backward_hopper").value(), load_machine("h100").value()).value();
  problem.max_groups = groups;
  return problem;
}

}  // namespace

TEST_CASE("attention backward's schedule of least II is sought without Z3, and a looser cap on groups changes nothing", "[solver]") {
  std::optional<Schedule> first;
  for (const int groups : {3, 4, 5, 6}) {
    const Problem problem = backward(groups);
    const std::optional<Schedule> found = seek(problem, {}, kLeast, 6, {});
    CAPTURE(groups);
    REQUIRE(found);
    CHECK(check(problem, *found).valid());
    CHECK(stage_count(*found) == 2);
    if (!first) first = found;
    for (std::size_t v = 0; v < problem.ops.size(); ++v) CHECK(found->ops[v].start == first->ops[v].start);
  }
}

TEST_CASE("what lies below attention backward's objectives is refuted without Z3", "[solver]") {
  for (const int groups : {3, 5}) {
    const Problem problem = backward(groups);
    const std::vector<Objective> order{Objective::Stages, Objective::Warps, Objective::Smem, Objective::Tmem, Objective::Registers};
    CAPTURE(groups);
    for (const std::vector<std::int64_t>& below : {std::vector<std::int64_t>{1}, {2, 8}, {2, 9, 147967}, {2, 9, 147968, 0, 216}})
      CHECK(refuted_within(problem, {}, kLeast, caps_of(order, below, 2), {}));
    for (const std::vector<std::int64_t>& there : {std::vector<std::int64_t>{2}, {2, 9}, {2, 9, 147968}, {2, 9, 147968, 0, 224}})
      CHECK_FALSE(refuted_within(problem, {}, kLeast, caps_of(order, there, 2), {}));
  }
}
