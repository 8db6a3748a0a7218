// Lower bounds on II: hand cases per unit, recurrence and issue stream; the maximum cycle ratio against enumeration.
#include "core/analysis/bounds.h"

#include <catch2/catch.hpp>

#include <random>

#include "core/analysis/cycle_ratio.h"

using namespace heddle;

namespace {

Op make_op(std::string name, std::vector<UnitUse> uses, Cycle latency, Cycle window = 0) {
  Op op;
  op.name = std::move(name);
  op.uses = std::move(uses);
  op.latency = latency;
  op.window = window;
  return op;
}

Edge make_edge(std::size_t from, std::size_t to, Cycle latency, int distance = 0) {
  Edge e;
  e.from = OpId(from);
  e.to = OpId(to);
  e.latency = latency;
  e.distance = distance;
  return e;
}

Unit make_unit(std::string name, std::int64_t capacity) {
  Unit u;
  u.name = std::move(name);
  u.capacity = capacity;
  return u;
}

Problem on_one_unit(std::int64_t capacity, std::vector<std::pair<Cycle, std::int64_t>> uses) {
  Problem p;
  p.units = {make_unit("U", capacity)};
  for (std::size_t i = 0; i < uses.size(); ++i)
    p.ops.push_back(make_op("op" + std::to_string(i), {{UnitId(0), 0, uses[i].first, uses[i].second}}, 1));
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
  Problem p;
  p.units = {make_unit("TC", 1), make_unit("MUFU", 1)};
  p.ops = {make_op("QK0", {{UnitId(0), 0, 512, 1}}, 512), make_op("PV0", {{UnitId(0), 0, 512, 1}}, 512),
           make_op("EXP", {{UnitId(1), 0, 700, 1}}, 700), make_op("none", {{UnitId(1), 0, 0, 1}}, 1)};
  const Bounds b = compute_bounds(p);
  CHECK(b.res_mii == 1024);
  CHECK(b.binding_unit == UnitId(0));
  CHECK(b.units[0].work == 1024);
  CHECK(b.units[1].bound == 700);
  CHECK(b.min_ii() == 1024);
  CHECK(b.sentence == "TC: QK0 + PV0 need 1024 cycles");
}

TEST_CASE("uses that exclude each other bound II more than their work does", "[core]") {
  CHECK(compute_bounds(on_one_unit(3, {{10, 2}})).res_mii == 10);          // work alone says 7
  CHECK(compute_bounds(on_one_unit(3, {{10, 2}, {10, 2}})).res_mii == 20);  // work alone says 14
  CHECK(compute_bounds(on_one_unit(4, {{10, 1}})).res_mii == 3);           // may overlap its own next iterations
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

TEST_CASE("the critical recurrence is the one with the greatest latency per iteration", "[core]") {
  Problem p;
  p.ops = {make_op("a", {}, 5), make_op("b", {}, 6), make_op("c", {}, 1)};
  p.edges = {make_edge(0, 1, 5), make_edge(1, 0, 6, 2), make_edge(1, 2, 6), make_edge(2, 1, 1, 1), make_edge(2, 2, 6, 1)};
  const Bounds b = compute_bounds(p);  // a-b 11/2, b-c 7/1, c 6/1
  CHECK(b.rec_mii == 7);
  CHECK(b.critical.latency == 7);
  CHECK(b.critical.distance == 1);
  CHECK(b.critical.edges.size() == 2);
  CHECK(b.sentence.find("7 cycles of latency over 1 iteration") != std::string::npos);

  p.edges = {make_edge(0, 1, 5), make_edge(1, 0, 6, 2)};
  CHECK(compute_bounds(p).rec_mii == 6);  // 11/2 rounded up
  p.edges.clear();
  CHECK(compute_bounds(p).critical.edges.empty());
  CHECK(compute_bounds(p).min_ii() == 1);
}

TEST_CASE("issue windows are shared by the groups that are left", "[core]") {
  Problem p;
  p.max_groups = 3;
  p.ops = {make_op("load", {}, 500, 30), make_op("a", {}, 1, 40), make_op("b", {}, 1, 41)};
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
