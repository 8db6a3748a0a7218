// Lower bounds on II: hand cases per unit, recurrence and issue stream; the maximum cycle ratio against enumeration.
#include "core/analysis/bounds.h"

#include <catch2/catch.hpp>

#include <random>

#include "core/analysis/cycle_ratio.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

Problem on_one_unit(std::int64_t capacity, std::vector<std::pair<Cycle, std::int64_t>> uses) {
  Problem p = empty_problem();
  const UnitId u = add_unit(p, "U", capacity);
  for (std::size_t i = 0; i < uses.size(); ++i) add_op(p, "op" + std::to_string(i), 1, 0, {{u, 0, uses[i].first, uses[i].second}});
  return p;
}

/// The greatest ratio over all simple cycles, by depth-first search; negative when some cycle is impossible.
struct Enumerated {
  bool impossible = false;
  std::int64_t weight = 0, tokens = 1;
};
Enumerated enumerate_cycles(std::size_t nodes, const std::vector<RatioEdge>& edges) {
  Enumerated best;
  std::vector<bool> on_path(nodes, false);
  auto visit = [&](auto&& self, std::size_t root, std::size_t v, std::int64_t weight, std::int64_t tokens) -> void {
    for (const RatioEdge& e : edges) {
      if (e.from != v || e.to < root) continue;
      const std::int64_t w = weight + e.weight, t = tokens + e.tokens;
      if (e.to == root) {
        if (t <= 0 && w > 0) best.impossible = true;
        if (t > 0 && w * best.tokens > best.weight * t) best.weight = w, best.tokens = t;
      } else if (!on_path[e.to]) {
        on_path[e.to] = true;
        self(self, root, e.to, w, t);
        on_path[e.to] = false;
      }
    }
  };
  for (std::size_t root = 0; root < nodes; ++root) visit(visit, root, root, 0, 0);
  return best;
}

}  // namespace

TEST_CASE("a unit of capacity one bounds II by the sum of its durations and names the ops", "[core]") {
  Problem p = empty_problem();
  const UnitId tc = add_unit(p, "TC"), mufu = add_unit(p, "MUFU");
  add_op(p, "QK0", 512, 0, {{tc, 0, 512, 1}});
  add_op(p, "PV0", 512, 0, {{tc, 0, 512, 1}});
  add_op(p, "EXP", 700, 0, {{mufu, 0, 700, 1}});
  add_op(p, "none", 1, 0, {{mufu, 0, 0, 1}});
  const Bounds b = compute_bounds(p);
  CHECK(b.res_mii == 1024);
  CHECK(b.binding_unit == UnitId(0));
  CHECK(b.units[0].work == 1024);
  CHECK(b.units[1].bound == 700);
  CHECK(b.min_ii() == 1024);
  CHECK(b.sentence == "TC: QK0 + PV0 need 1024 cycles");
}

TEST_CASE("uses that exclude each other bound II more than their work does", "[core]") {
  CHECK(compute_bounds(on_one_unit(3, {{10, 2}})).res_mii == 10);                    // work alone says 7
  CHECK(compute_bounds(on_one_unit(3, {{10, 2}, {10, 2}})).res_mii == 20);           // work alone says 14
  CHECK(compute_bounds(on_one_unit(4, {{10, 1}})).res_mii == 3);                     // may overlap its own next iterations
  CHECK(compute_bounds(on_one_unit(5, {{10, 2}, {10, 2}, {10, 2}})).res_mii == 15);  // two at a time; work says 12
  CHECK(compute_bounds(on_one_unit(128, {{64, 128}, {64, 64}})).res_mii == 96);
  CHECK(compute_bounds(on_one_unit(4, {{0, 4}})).res_mii == 1);
}

TEST_CASE("a use above its unit's capacity leaves no finite II", "[core]") {
  const Bounds b = compute_bounds(on_one_unit(2, {{1, 3}}));
  CHECK(b.min_ii() == kNoFiniteII);
  CHECK(b.sentence == "U: op0 takes 3 of a capacity of 2, so no II is possible");
}

TEST_CASE("huge costs saturate instead of wrapping", "[core]") {
  const std::int64_t big = std::int64_t{1} << 31;
  std::vector<std::pair<Cycle, std::int64_t>> uses(2000, {big, 1});
  CHECK(compute_bounds(on_one_unit(1, uses)).res_mii == 2000 * big);
  CHECK(compute_bounds(on_one_unit(std::int64_t{1} << 60, {{big, std::int64_t{1} << 60}})).res_mii >= big);
}

TEST_CASE("a ring that cannot be deeper bounds II by the way round through its last reader", "[core]") {
  Problem p = empty_problem();
  const OpId write = add_op(p, "write", 100), middle = add_op(p, "middle", 40), last = add_op(p, "last", 7);
  add_edge(p, write, middle, 100);
  add_edge(p, middle, last, 40);
  const ChannelId ring = add_channel(p, write, 16, {{middle, 0, 30, 0}, {last, 0, 60, 0}});
  p.channels[ring.index()].max_depth = 1;
  CHECK(compute_bounds(p).credit_mii == 200);
  CHECK(compute_bounds(p).min_ii() == 200);
  CHECK(compute_bounds(p).sentence == "refilling write -> middle -> last -> (frees " + p.channels[ring.index()].name +
                                          " of 1) write: 200 cycles of latency over 1 iteration");
  p.channels[ring.index()].max_depth = 2;
  CHECK(compute_bounds(p).credit_mii == 100);
  p.channels[ring.index()].only_if_crossing = true;
  CHECK(compute_bounds(p).credit_mii == 1);
}

TEST_CASE("the critical recurrence is the one with the greatest latency per iteration", "[core]") {
  Problem p = empty_problem();
  const OpId a = add_op(p, "a", 5), b_op = add_op(p, "b", 6), c = add_op(p, "c", 1);
  add_edge(p, a, b_op, 5);
  add_edge(p, b_op, a, 6, 2);
  add_edge(p, b_op, c, 6);
  add_edge(p, c, b_op, 1, 1);
  add_edge(p, c, c, 6, 1);
  const Bounds b = compute_bounds(p);  // a-b 11/2, b-c 7/1, c 6/1
  CHECK(b.rec_mii == 7);
  CHECK(b.critical.latency == 7);
  CHECK(b.critical.distance == 1);
  CHECK(b.critical.edges.size() == 2);
  CHECK(b.sentence.find("7 cycles of latency over 1 iteration") != std::string::npos);

  p.edges.resize(2);
  CHECK(compute_bounds(p).rec_mii == 6);  // 11/2 rounded up
  p.edges.clear();
  CHECK(compute_bounds(p).critical.edges.empty());
  CHECK(compute_bounds(p).min_ii() == 1);
}

TEST_CASE("refilling a ring at its largest depth bounds II, unless the ring need not exist", "[core]") {
  Problem p = empty_problem();
  const OpId load = add_op(p, "load", 560), mma = add_op(p, "mma", 100);
  add_channel(p, load, 1024, {{mma, 1, 100, 40}});
  add_edge(p, load, mma, 560, 1).value = ValueId(0);
  p.channels[0].max_depth = 2;
  const Bounds b = compute_bounds(p);
  CHECK(b.credit_mii == 330);  // (560 + 100) / 2; the signal depends on groups
  CHECK(b.rec_mii == 1);
  CHECK(b.min_ii() == 330);
  CHECK(b.sentence.find("refilling ") == 0);
  CHECK(b.sentence.find("(frees load_tile of 2)") != std::string::npos);
  p.channels[0].only_if_crossing = true;
  CHECK(compute_bounds(p).min_ii() == 1);
}

TEST_CASE("issue windows are shared by the groups that are left", "[core]") {
  Problem p = empty_problem();
  p.max_groups = 3;
  add_op(p, "load", 500, 30);
  add_op(p, "a", 1, 40);
  add_op(p, "b", 1, 41);
  CHECK(compute_bounds(p).issue_mii == 41);
  p.ops[0].variable_latency = true;
  CHECK(compute_bounds(p).issue_mii == 41);  // a and b on two streams: ceil(81 / 2)
  p.max_groups = 2;
  CHECK(compute_bounds(p).issue_mii == 81);
  p.ops[0].window = 90;
  CHECK(compute_bounds(p).issue_mii == 90);
  p.max_groups = 1;
  CHECK(compute_bounds(p).issue_mii == kNoFiniteII);
}

TEST_CASE("the maximum cycle ratio equals that of all simple cycles enumerated", "[core]") {
  for (std::uint32_t seed = 1; seed <= 600; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const std::size_t nodes = 2 + random() % 5;
    std::vector<RatioEdge> edges;
    for (std::size_t i = 0; i < 2 * nodes; ++i) {
      const std::size_t from = random() % nodes, to = random() % nodes;
      // Backward edges carry tokens, forward ones sometimes; one graph in eight may be impossible.
      std::int64_t tokens = to <= from ? 1 + random() % 3 : random() % 2;
      if (seed % 8 == 0 && random() % 6 == 0) tokens = 0;
      edges.push_back({from, to, static_cast<std::int64_t>(random() % 20), tokens});
    }
    const CycleRatio found = max_cycle_ratio(nodes, edges);
    const Enumerated expected = enumerate_cycles(nodes, edges);
    CHECK(found.impossible == expected.impossible);
    if (found.impossible || expected.impossible) continue;
    CHECK(found.weight * expected.tokens == expected.weight * found.tokens);
    std::int64_t weight = 0, tokens = 0;
    for (std::size_t i = 0; i < found.cycle.size(); ++i) {
      const RatioEdge& e = edges[found.cycle[i]];
      CHECK(e.to == edges[found.cycle[(i + 1) % found.cycle.size()]].from);
      weight += e.weight;
      tokens += e.tokens;
    }
    if (!found.cycle.empty()) CHECK((weight == found.weight && tokens == found.tokens));
  }
}
