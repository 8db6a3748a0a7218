// The generators of large problems: the same problem from the same seed everywhere, and the shape that they promise.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/analysis/bounds.h"
#include "core/analysis/channels.h"
#include "core/check/checker.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"
#include "tests/support/unroll.h"

using namespace heddle;
using namespace heddle::test;

TEST_CASE("mixed problems have competing circuits near the resource bound and some schedule", "[core]") {
  for (const int ops : {16, 24, 50, 200}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      INFO(ops << " ops, seed " << seed);
      const Problem p = random_mixed_problem(seed, ops);
      REQUIRE(p.ops.size() == static_cast<std::size_t>(ops));
      const auto circuits = std::count_if(p.edges.begin(), p.edges.end(), [](const Edge& e) { return e.distance > 0; });
      CHECK(circuits >= 1);
      CHECK(p.edges.size() >= p.ops.size());
      CHECK(p.edges.size() <= p.ops.size() * 3 / 2);
      const Bounds bounds = compute_bounds(p);
      CHECK(bounds.rec_mii * 100 >= bounds.res_mii * 55);
      CHECK(bounds.rec_mii * 100 <= bounds.res_mii * 160);

      Schedule s;
      Cycle now = 0;
      for (const Op& op : p.ops) {
        s.ops.push_back({now, GroupId(op.variable_latency ? 0 : 1)});
        now += op.latency + 400;
      }
      s.ii = now;
      derive_groups(p, s);
      s.depths = minimal_depths(p, s);
      const Verdict verdict = check(p, s);
      INFO((verdict.valid() ? "" : verdict.violations.front().message));
      CHECK(verdict.valid());
    }
  }
}

TEST_CASE("generated problems do not depend on the machine", "[core]") {
  CHECK(problem_hash(random_mixed_problem(1, 50)) == "01ef2647a0fb0d82");
  CHECK(problem_hash(random_layered_problem(1, 50)) == "310f8b58c38958f9");
}

TEST_CASE("an unrolled loop has the schedule of the loop, copy after copy", "[core]") {
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem loop = random_problem(seed);
    const auto found = brute_force_minimum(loop, 2, 20, {}, 20'000).schedule;
    if (!found) continue;
    ++tried;
    for (const int copies : {1, 2, 3, 5}) {
      INFO("seed " << seed << ", " << copies << " copies");
      const Problem p = unrolled_problem(loop, copies);
      Schedule s = *found;
      s.ops.clear();
      s.ii = found->ii * copies;
      for (int copy = 0; copy < copies; ++copy)
        for (const Placement& placed : found->ops) s.ops.push_back({placed.start + copy * found->ii, placed.group});
      s.depths = minimal_depths(p, s);
      const Verdict verdict = check(p, s);
      INFO((verdict.valid() ? "" : verdict.violations.front().message));
      CHECK(verdict.valid());
    }
  }
  CHECK(tried >= 10);
}
