// The checker by hand: for each family a schedule that just fits and one that is a single step beyond.
#include "core/check/checker.h"

#include <catch2/catch.hpp>

#include <limits>

#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// The single violation expected, of this family.
Violation only(const Problem& p, const Schedule& s, const std::string& family, const Constraints& constraints = {}) {
  const Verdict verdict = check(p, s, constraints);
  for (const Violation& v : verdict.violations) UNSCOPED_INFO(v.family << ": " << v.message);
  REQUIRE(verdict.violations.size() == 1);
  CHECK(verdict.violations.front().family == family);
  return verdict.violations.front();
}

void fits(const Problem& p, const Schedule& s, const Constraints& constraints = {}) {
  const Verdict verdict = check(p, s, constraints);
  for (const Violation& v : verdict.violations) UNSCOPED_INFO(v.family << ": " << v.message);
  CHECK(verdict.valid());
}

UserConstraint demand(ConstraintKind kind, std::vector<std::string> ops, std::int64_t low = 0, std::int64_t high = 0) {
  UserConstraint c;
  c.name = "mine";
  c.kind = kind;
  c.ops = std::move(ops);
  c.low = low;
  c.high = high;
  return c;
}

}  // namespace

TEST_CASE("dependence: latency, distance and the hand-off between groups", "[core]") {
  Problem p = empty_problem();
  const OpId a = add_op(p, "a", 5), b = add_op(p, "b", 1);
  add_edge(p, a, b, 5).handoff = 3;
  fits(p, place(p, 4, {{0, 0}, {5, 0}}));
  const Violation v = only(p, place(p, 4, {{0, 0}, {4, 0}}), "dependence");
  CHECK(v.ops == std::vector<OpId>{a, b});
  CHECK((v.amount == 4 && v.limit == 5));
  fits(p, place(p, 4, {{0, 0}, {8, 1}}));
  CHECK(only(p, place(p, 4, {{0, 0}, {7, 1}}), "dependence").limit == 8);
  p.edges[0].distance = 2;
  fits(p, place(p, 4, {{3, 0}, {0, 0}}));
  only(p, place(p, 4, {{4, 0}, {0, 0}}), "dependence");
}

TEST_CASE("unit: amounts add up modulo II, wrapped uses and uses longer than II included", "[core]") {
  Problem p = empty_problem();
  const UnitId u = add_unit(p, "TC", 3);
  add_op(p, "a", 1, 0, {{u, 0, 4, 2}});
  add_op(p, "b", 1, 0, {{u, 0, 3, 2}});
  fits(p, place(p, 7, {{5, 0}, {2, 0}}));  // a on 5, 6, 0, 1; b on 2 to 4
  const Violation v = only(p, place(p, 7, {{5, 0}, {1, 0}}), "unit");
  CHECK(v.slot == 1);
  CHECK((v.amount == 4 && v.limit == 3));
  CHECK(v.message == "TC: a and b use 4 at slot 1, the capacity is 3");
  p.ops.pop_back();
  fits(p, place(p, 4, {{0, 0}}));
  CHECK(only(p, place(p, 3, {{0, 0}}), "unit").message == "TC: a and its own next iteration use 4 at slot 0, the capacity is 3");
  p.ops[0].uses[0].amount = 1;
  fits(p, place(p, 2, {{1, 0}}));
}

TEST_CASE("issue: windows of one group do not overlap modulo II; other groups do not matter", "[core]") {
  Problem p = empty_problem();
  const OpId a = add_op(p, "a", 1, 4), b = add_op(p, "b", 1, 3);
  fits(p, place(p, 7, {{4, 0}, {8, 0}}));  // a on 4 to 0, b on 1 to 3
  const Violation v = only(p, place(p, 7, {{4, 0}, {7, 0}}), "issue");
  CHECK(v.ops == std::vector<OpId>{a, b});
  CHECK(v.slot == 0);
  fits(p, place(p, 7, {{4, 0}, {7, 1}}));
  CHECK(check(p, place(p, 3, {{0, 0}, {0, 1}})).violations.size() == 1);  // a is longer than II
  p.ops[1].window = 0;
  fits(p, place(p, 4, {{0, 0}, {1, 0}}));
}

TEST_CASE("blocking: a waiting op without issue time does not start strictly inside a window", "[core]") {
  Problem p = empty_problem();
  add_op(p, "a", 1, 4);
  const OpId w = add_op(p, "w", 1), far = add_op(p, "far", 1);
  add_edge(p, far, w, 1);
  fits(p, place(p, 8, {{1, 0}, {3, 0}, {0, 0}}));  // nothing to wait for: one stream, no barrier
  const Violation v = only(p, place(p, 8, {{1, 0}, {3, 0}, {0, 1}}), "blocking");
  CHECK((v.amount == 2 && v.limit == 4));
  CHECK(v.ops == std::vector<OpId>{w, OpId(0)});
  fits(p, place(p, 8, {{1, 0}, {1, 0}, {0, 1}}));
  fits(p, place(p, 8, {{1, 0}, {5, 0}, {0, 1}}));
  p.edges[0].waits = true;
  only(p, place(p, 8, {{6, 0}, {8, 0}, {0, 0}}), "blocking");
}

TEST_CASE("variable: group 0 holds exactly the ops of variable latency", "[core]") {
  Problem p = empty_problem();
  add_op(p, "load", 9);
  add_op(p, "a", 1);
  p.ops[0].variable_latency = true;
  fits(p, place(p, 1, {{0, 0}, {0, 1}}));
  CHECK(only(p, place(p, 1, {{0, 0}, {0, 0}}), "variable").ops == std::vector<OpId>{OpId(1)});
  CHECK(check(p, place(p, 1, {{0, 1}, {0, 0}})).violations.size() == 2);
}

TEST_CASE("warps: as the widest op, aligned to four, within the CTA", "[core]") {
  Problem p = empty_problem();
  add_op(p, "a", 1);
  add_op(p, "b", 1);
  p.ops[0].warps = 5;
  p.ops[1].aligned = true;
  Schedule s = place(p, 1, {{0, 0}, {0, 0}});
  CHECK(only(p, s, "warps").limit == 8);
  s.groups[0].warps = 8;
  fits(p, s);
  p.limits.warps_per_cta = 7;
  CHECK(only(p, s, "warps").amount == 8);
  s.groups.push_back({});
  p.limits.warps_per_cta = 8;
  fits(p, s);  // an empty group has no warps
  s.groups[1].warps = 1;
  CHECK(check(p, s).violations.size() == 2);
}

TEST_CASE("registers: a value lives until its last reader in the group starts, held longer by an asynchronous one", "[core]") {
  Problem p = empty_problem();
  const OpId a = add_op(p, "a", 1), b = add_op(p, "b", 1), c = add_op(p, "c", 1);
  const ValueId x = add_registers(p, a, 16), y = add_registers(p, b, 16);
  add_edge(p, a, b, 1).value = x;
  add_edge(p, b, c, 1).value = y;
  p.limits.registers_per_thread = 16;
  fits(p, place(p, 10, {{0, 0}, {4, 0}, {9, 0}}));                                    // b takes a's registers over
  const Violation v = only(p, place(p, 10, {{0, 0}, {4, 0}, {11, 0}}), "registers");  // y lives into the next x
  CHECK(v.ops == std::vector<OpId>{a});
  CHECK((v.slot == 0 && v.amount == 32 && v.limit == 16));
  fits(p, place(p, 10, {{0, 0}, {4, 0}, {10, 0}}));  // half-open: dead at that very cycle
  p.edges[0].hold = 1;
  only(p, place(p, 10, {{0, 0}, {4, 0}, {9, 0}}), "registers");
  p.edges[0].hold = 0;
  p.edges[1].distance = 2;                                                               // y lives from 5 to 29
  CHECK(only(p, place(p, 10, {{4, 0}, {5, 0}, {9, 0}}), "registers").amount == 16 * 3);  // x and two older y at a's start
}

TEST_CASE("registers: inputs from other groups, overhead, budgets, granule, register file", "[core]") {
  Problem p = empty_problem();
  const OpId a = add_op(p, "a", 1), b = add_op(p, "b", 1);
  const ValueId x = add_registers(p, a, 10);
  add_registers(p, b, 4);
  add_edge(p, a, b, 1).value = x;
  p.limits.register_overhead = 3;
  p.resident_registers = 2;
  p.limits.registers_per_thread = 24;
  Schedule s = place(p, 10, {{0, 0}, {1, 1}});
  fits(p, s);
  s.groups[0].registers = 16;
  s.groups[1].registers = 24;
  fits(p, s);
  s.groups[1].registers = 16;  // 10 + 4 + 3 + 2 = 19
  CHECK(only(p, s, "registers").amount == 19);
  s.groups[1].registers = 20;
  CHECK(only(p, s, "registers").limit == 8);
  s.groups[1].registers = 32;
  CHECK(only(p, s, "registers").limit == 24);
  s.groups[1].registers = 0;
  p.limits.registers_per_sm = (16 + 24) * 32;
  fits(p, s);
  --p.limits.registers_per_sm;
  CHECK(only(p, s, "registers").amount == 40 * 32);
  p.edges.clear();
  p.values.clear();  // nothing touches registers: producer_registers is enough, and is asked for
  p.limits.producer_registers = 24;
  p.limits.registers_per_sm = 65536;
  s = place(p, 10, {{0, 0}, {1, 1}});
  fits(p, s);
  s.groups[0].registers = 16;
  CHECK(only(p, s, "registers").amount == 24);
}

TEST_CASE("memory: depth times size plus residents; tensor memory rounds up to a power of two", "[core]") {
  Problem p = empty_problem();
  const OpId a = add_op(p, "a", 1);
  add_channel(p, a, 1000, {});
  p.resident_smem = 500;
  p.limits.smem_bytes = 2500;
  Schedule s = place(p, 1, {{0, 0}});
  s.depths[0] = 2;
  fits(p, s);
  p.limits.smem_bytes = 2499;
  CHECK(only(p, s, "memory").amount == 2500);
  p.channels[0].space = Space::Tmem;
  p.channels[0].size = 64;
  p.limits.tmem_columns = 128;
  fits(p, s);
  p.resident_columns = 1;
  CHECK(only(p, s, "memory").amount == 256);
}

TEST_CASE("depth and credit: as many slots as copies alive, refilled only after the last reader", "[core]") {
  Problem p = empty_problem();
  const OpId w = add_op(p, "w", 1), r = add_op(p, "r", 1);
  add_channel(p, w, 16, {{r, 1, 5, 2}});
  p.channels[0].max_depth = 3;
  Schedule s = place(p, 10, {{0, 0}, {5, 0}});  // alive from 0 to 5 + 10 + 5 = 20
  CHECK(s.depths[0] == 2);
  fits(p, s);
  s.depths[0] = 1;
  CHECK(only(p, s, "depth").limit == 2);
  s.depths[0] = 4;
  CHECK(only(p, s, "depth").limit == 3);
  s.depths[0] = 0;
  CHECK(only(p, s, "depth").limit == 1);
  s = place(p, 10, {{0, 0}, {5, 1}});  // now the signal takes 2 more
  CHECK(s.depths[0] == 3);
  s.depths[0] = 2;
  const Violation v = only(p, s, "credit");
  CHECK((v.amount == 20 && v.limit == 22));
}

TEST_CASE("depth: the channel of a register value exists only when another group reads it", "[core]") {
  Problem p = empty_problem();
  const OpId w = add_op(p, "w", 1), r = add_op(p, "r", 1), q = add_op(p, "q", 1);
  add_channel(p, w, 16, {{r, 0, 1, 1}, {q, 0, 30, 0}});
  p.channels[0].only_if_crossing = true;
  Schedule s = place(p, 10, {{0, 0}, {1, 0}, {1, 0}});
  CHECK(s.depths[0] == 0);
  fits(p, s);
  s.depths[0] = 1;
  only(p, s, "depth");
  s = place(p, 10, {{0, 0}, {1, 1}, {1, 0}});
  CHECK(s.depths[0] == 1);  // q reads registers and does not count
  fits(p, s);
  s.depths[0] = 0;
  only(p, s, "depth");
}

TEST_CASE("user: every kind of demand, met and missed", "[core]") {
  Problem p = empty_problem();
  const OpId a = add_op(p, "a", 1), b = add_op(p, "b", 1);
  add_registers(p, a, 20);
  add_channel(p, b, 100, {});
  add_channel(p, b, 33, {});
  p.channels[1].space = Space::Tmem;
  const Schedule s = place(p, 4, {{1, 0}, {6, 1}});  // stages 0 and 1; budgets 24 and 24; 1 warp each
  using K = ConstraintKind;
  const auto met = [&](UserConstraint c) { fits(p, s, {c}); };
  const auto missed = [&](UserConstraint c) {
    const Violation v = only(p, s, "user", {c});
    CHECK(v.message.rfind("mine: ", 0) == 0);
    c.enabled = false;
    fits(p, s, {c});
  };
  met(demand(K::Pin, {"a"}, 1));
  missed(demand(K::Pin, {"a"}, 2));
  met(demand(K::Range, {"a", "b"}, 1, 6));
  missed(demand(K::Range, {"a", "b"}, 1, 5));
  missed(demand(K::Range, {"a", "b"}, 2, 6));
  met(demand(K::InGroup, {"b"}, 1));
  missed(demand(K::InGroup, {"b"}, 0));
  met(demand(K::NotInGroup, {"b"}, 0));
  missed(demand(K::NotInGroup, {"b"}, 1));
  missed(demand(K::SameGroup, {"a", "b"}));
  met(demand(K::DifferentGroup, {"a", "b"}));
  missed(demand(K::DifferentGroup, {"a", "a"}));
  met(demand(K::Before, {"a", "b"}, 5));
  missed(demand(K::Before, {"a", "b"}, 6));
  missed(demand(K::Before, {"a"}, 6));
  missed(demand(K::SameStage, {"a", "b"}));
  met(demand(K::EarlierStage, {"a", "b"}, 1));
  missed(demand(K::EarlierStage, {"a", "b"}, 2));
  missed(demand(K::EarlierStage, {"b", "a"}, 1));
  missed(demand(K::EarlierStage, {"a"}, 1));
  met(demand(K::MaxStages, {}, 0, 2));
  missed(demand(K::MaxStages, {}, 0, 1));
  met(demand(K::MaxWarps, {}, 0, 2));
  missed(demand(K::MaxWarps, {}, 0, 1));
  met(demand(K::MaxGroups, {}, 0, 2));
  missed(demand(K::MaxGroups, {}, 0, 1));
  met(demand(K::MaxRegisters, {}, 0, 24));
  CHECK(check(p, s, {demand(K::MaxRegisters, {}, 0, 23)}).violations.size() == 2);
  met(demand(K::MaxSmem, {}, 0, 100));
  missed(demand(K::MaxSmem, {}, 0, 99));
  met(demand(K::MaxTmem, {}, 0, 64));
  missed(demand(K::MaxTmem, {}, 0, 63));
  met(demand(K::IIRange, {}, 4, 4));
  met(demand(K::IIRange, {}, 1, 0));  // no upper end
  missed(demand(K::IIRange, {}, 5, 0));
  missed(demand(K::IIRange, {}, 1, 3));
  met(demand(K::MaxWidthRegisters, {}, 0, 2 * 768));
  missed(demand(K::MaxWidthRegisters, {}, 0, 2 * 768 - 1));
  met(demand(K::ClosedGroup, {"a"}));
  missed(demand(K::Pin, {"nobody"}, 0));
  met(demand(K::OneByOne, {}));
  UserConstraint depth = demand(K::MaxDepth, {}, 0, 1);
  missed(depth);  // no such channel
  depth.channel = "b_tile";
  met(depth);
  depth.high = 0;
  missed(depth);
}

TEST_CASE("user: one by one, a group issues an iteration before it begins the next", "[core]") {
  Problem p = empty_problem();
  const OpId a = add_op(p, "a", 1, 4), b = add_op(p, "b", 1, 3);
  const Constraints one_by_one{demand(ConstraintKind::OneByOne, {})};
  fits(p, place(p, 10, {{4, 0}, {11, 0}}), one_by_one);  // b is issued at 14, a begins again at 14
  const Schedule pipelined = place(p, 10, {{4, 0}, {18, 0}});
  fits(p, pipelined);
  const Violation v = only(p, pipelined, "user", one_by_one);
  CHECK(v.ops == std::vector<OpId>{a, b});
  CHECK((v.amount == 17 && v.limit == 10));
  fits(p, place(p, 10, {{4, 0}, {18, 1}}), one_by_one);
  add_op(p, "inner", 1);  // takes no issue time: its place in the order binds nothing
  p.ops[2].window = 0;
  fits(p, place(p, 10, {{4, 0}, {11, 0}, {0, 0}}), one_by_one);
}

TEST_CASE("user: a closed group neither hands over nor takes", "[core]") {
  Problem p = empty_problem();
  const OpId a = add_op(p, "a", 1), b = add_op(p, "b", 1), c = add_op(p, "c", 1), d = add_op(p, "d", 1);
  p.max_groups = 3;
  add_edge(p, a, b, 1, 0).handoff = 1;
  add_edge(p, c, d, 1, 0);  // an order that costs nothing is no channel
  const Constraints closed{demand(ConstraintKind::ClosedGroup, {"a"})};
  fits(p, place(p, 10, {{0, 0}, {1, 0}, {0, 1}, {1, 0}}), closed);
  const Violation v = only(p, place(p, 10, {{0, 0}, {2, 1}, {0, 0}, {1, 0}}), "user", closed);
  CHECK(v.ops == std::vector<OpId>{a, b});
  p.edges[1].handoff = 1;
  fits(p, place(p, 10, {{0, 0}, {1, 0}, {0, 1}, {2, 2}}), closed);  // elsewhere they may
  CHECK(only(p, place(p, 10, {{0, 0}, {1, 0}, {0, 1}, {2, 0}}), "user", closed).ops == std::vector<OpId>{c, d});
}

TEST_CASE("user: rings counted by stages, from the first op on", "[core]") {
  Problem p = empty_problem();
  add_op(p, "a", 1);
  add_op(p, "b", 1);
  UserConstraint rings = demand(ConstraintKind::MaxStageSmem, {}, 0, 200);
  rings.rings = {{"a", {"b"}, 100}};
  fits(p, place(p, 10, {{0, 0}, {19, 0}}), {rings});
  const Violation v = only(p, place(p, 10, {{0, 0}, {20, 0}}), "user", {rings});
  CHECK((v.amount == 300 && v.limit == 200));
  CHECK(only(p, place(p, 10, {{1, 0}, {12, 0}}), "user", {rings}).message.find("first op starts at 1") != std::string::npos);
  rings.rings[0].readers = {"nobody"};
  CHECK(only(p, place(p, 10, {{0, 0}, {0, 0}}), "user", {rings}).message.find("no op named 'nobody'") != std::string::npos);
}

TEST_CASE("user: rings between groups take their bytes once, those inside one group none", "[core]") {
  Problem p = empty_problem();
  add_op(p, "a", 1);
  add_op(p, "b", 1);
  add_op(p, "c", 1);
  UserConstraint rings = demand(ConstraintKind::MaxCrossingSmem, {}, 0, 100);
  rings.rings = {{"a", {"b", "c"}, 100}, {"b", {"c"}, 50}};
  fits(p, place(p, 10, {{0, 0}, {1, 0}, {2, 0}}), {rings});
  fits(p, place(p, 10, {{0, 0}, {1, 1}, {2, 1}}), {rings});
  rings.low = 1;
  CHECK(only(p, place(p, 10, {{0, 0}, {1, 1}, {2, 1}}), "user", {rings}).amount == 101);
  rings.low = 0;
  const Violation v = only(p, place(p, 10, {{0, 0}, {1, 0}, {2, 1}}), "user", {rings});
  CHECK((v.amount == 150 && v.limit == 100));
  rings.rings[1].readers = {"nobody"};
  CHECK(only(p, place(p, 10, {{0, 0}, {0, 0}, {0, 0}}), "user", {rings}).message.find("no op named 'nobody'") != std::string::npos);
}

TEST_CASE("malformed schedules are told, never a crash", "[core]") {
  Problem p = empty_problem();
  const UnitId u = add_unit(p, "U");
  const OpId a = add_op(p, "a", 5, 2, {{u, 0, 2, 1}}), b = add_op(p, "b", 5, 2, {{u, 0, 2, 1}});
  add_edge(p, a, b, 5, 1).value = add_registers(p, a, 4);
  add_channel(p, a, 16, {{b, 1, 5, 2}});
  const Schedule good = place(p, 10, {{0, 0}, {5, 1}});
  fits(p, good);
  const auto malformed = [&](auto&& spoil) {
    Schedule s = good;
    spoil(s);
    const Verdict verdict = check(p, s, {demand(ConstraintKind::Pin, {"a"}, 7)});
    CHECK_FALSE(verdict.valid());
    for (const Violation& v : verdict.violations) CHECK(v.family == "form");
  };
  const Cycle most = std::numeric_limits<Cycle>::max(), least = std::numeric_limits<Cycle>::min();
  malformed([](Schedule& s) { s = {}; });
  malformed([](Schedule& s) { s.ops.pop_back(); });
  malformed([](Schedule& s) { s.ops.push_back({}); });
  malformed([](Schedule& s) { s.depths.clear(); });
  malformed([](Schedule& s) { s.depths.push_back(1); });
  malformed([](Schedule& s) { s.depths[0] = -1; });
  malformed([](Schedule& s) { s.groups.clear(); });
  malformed([](Schedule& s) { s.groups[1].warps = -4; });
  malformed([](Schedule& s) { s.groups[1].registers = -8; });
  malformed([](Schedule& s) { s.ops[0].group = {}; });
  malformed([](Schedule& s) { s.ops[0].group = GroupId(7); });
  for (const Cycle x : {Cycle{0}, Cycle{-1}, least, most}) malformed([&](Schedule& s) { s.ii = x; });
  for (const Cycle x : {Cycle{-1}, least, most}) malformed([&](Schedule& s) { s.ops[1].start = x; });
}

TEST_CASE("too many warp groups are a fault of form, and the rest is judged all the same", "[core]") {
  Problem p = empty_problem();
  add_op(p, "a", 1);
  const OpId b = add_op(p, "b", 1);
  add_edge(p, OpId(0), b, 3);
  p.max_groups = 1;
  const Verdict verdict = check(p, place(p, 4, {{0, 0}, {2, 1}}));
  REQUIRE(verdict.violations.size() == 2);
  CHECK(verdict.violations[0].family == "form");
  CHECK(verdict.violations[1].family == "dependence");
}

TEST_CASE("absurd numbers of sound form neither overflow nor take long", "[core]") {
  Problem p = empty_problem();
  const UnitId u = add_unit(p, "U", std::numeric_limits<std::int64_t>::max());
  const Cycle big = Cycle{1} << 31;
  for (int i = 0; i < 200; ++i) add_op(p, "op" + std::to_string(i), big, big, {{u, big, big, std::numeric_limits<std::int64_t>::max()}});
  for (std::size_t i = 0; i < 200; ++i) {
    add_edge(p, OpId(i), OpId((i + 1) % 200), big, std::numeric_limits<int>::max()).value = add_registers(p, OpId(i), 1 << 30);
    add_channel(p, OpId(i), std::numeric_limits<std::int64_t>::max(), {{OpId((i + 7) % 200), 1 << 30, big, big}});
  }
  std::vector<std::pair<Cycle, int>> starts;
  for (int i = 0; i < 200; ++i) starts.push_back({(Cycle{1} << 44) - i * big, i % 4});
  for (const Cycle ii : {Cycle{1}, Cycle{1000}, Cycle{1} << 44}) {
    Schedule s = place(p, ii, starts);
    s.depths.assign(s.depths.size(), std::numeric_limits<int>::max());
    CHECK_FALSE(check(p, s).valid());
  }
}
