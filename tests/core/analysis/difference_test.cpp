// Two schedules of one problem: what counts as a difference, what does not, and where they first part.
#include "core/analysis/difference.h"

#include <catch2/catch.hpp>
#include <random>

#include "core/analysis/channels.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using heddle::test::place;

namespace {

/// load -> product -> sum on two units, the product asynchronous in spirit only.
Problem chain() {
  Problem p = test::empty_problem();
  const OpId a = test::add_op(p, "a", 4, 1), b = test::add_op(p, "b", 4, 1), c = test::add_op(p, "c", 4, 1);
  test::add_edge(p, a, b, 4);
  test::add_edge(p, b, c, 4);
  return p;
}

Schedule random_schedule(const Problem& problem, std::mt19937& random, int groups) {
  std::vector<std::pair<Cycle, int>> places;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const int group = static_cast<int>(random() % static_cast<unsigned>(groups));
    const Cycle start = static_cast<Cycle>(random() % 60);
    places.emplace_back(start, group);
  }
  return place(problem, 20, places);
}

/// The same schedule with other numbers for the groups behind the producer.
Schedule renumbered(const Problem& problem, Schedule schedule, std::mt19937& random) {
  const std::size_t fixed = problem.has_producer_group() ? 1 : 0, count = schedule.groups.size();
  std::vector<std::size_t> number(count);
  for (std::size_t g = 0; g < count; ++g) number[g] = g;
  if (count > fixed) std::shuffle(number.begin() + static_cast<std::ptrdiff_t>(fixed), number.end(), random);
  std::vector<ScheduleGroup> groups(count);
  for (std::size_t g = 0; g < count; ++g) groups[number[g]] = schedule.groups[g];
  schedule.groups = groups;
  for (Placement& p : schedule.ops) p.group = GroupId(number[p.group.index()]);
  return schedule;
}

}  // namespace

TEST_CASE("a schedule shifted as a whole, with its groups renumbered, is the same program", "[core]") {
  std::mt19937 random(7);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = test::random_problem(seed);
    const Schedule a = random_schedule(problem, random, 3);
    const Schedule b = renumbered(problem, shifted(a, static_cast<Cycle>(random() % 100)), random);
    for (const auto at : {Alignment::At::IiStart, Alignment::At::Most, Alignment::At::Op}) {
      const Difference d = compare_schedules(problem, a, b, {at, OpId(0)});
      INFO("seed " << seed << ": " << (d.first ? d.first->sentence : ""));
      CHECK(d.same_program());
      CHECK(d.same_times());
    }
    CHECK(differing_ops(problem, a, b).empty());
  }
}

TEST_CASE("a difference is the same seen from the other side", "[core]") {
  std::mt19937 random(11);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = test::random_problem(seed);
    const Schedule a = random_schedule(problem, random, 3), b = random_schedule(problem, random, 2);
    for (const auto at : {Alignment::At::IiStart, Alignment::At::Most, Alignment::At::Op}) {
      const Difference there = compare_schedules(problem, a, b, {at, OpId(0)}), back = compare_schedules(problem, b, a, {at, OpId(0)});
      INFO("seed " << seed);
      CHECK(there.shift == -back.shift);
      CHECK(there.same_program() == back.same_program());
      for (std::size_t v = 0; v < problem.ops.size(); ++v) {
        CHECK(there.ops[v].delta == -back.ops[v].delta);
        CHECK(there.ops[v].group == back.ops[v].group);
      }
    }
    CHECK(differing_ops(problem, a, b) == differing_ops(problem, b, a));
  }
}

TEST_CASE("an op that only one schedule gives to the producer makes two programs, from both sides", "[core]") {
  Problem p = test::empty_problem();
  const OpId load = test::add_op(p, "load", 4, 1), use = test::add_op(p, "use", 4, 1);
  test::add_edge(p, load, use, 4);
  p.ops[load.index()].variable_latency = true;
  const Schedule a = place(p, 20, {{0, 0}, {4, 2}}), b = place(p, 20, {{0, 1}, {4, 2}});
  CHECK_FALSE(compare_schedules(p, a, b).same_program());
  CHECK_FALSE(compare_schedules(p, b, a).same_program());
}

TEST_CASE("an op that moved is the only one that differs, wherever the others stand", "[core]") {
  const Problem p = chain();
  const Schedule a = place(p, 20, {{0, 0}, {4, 0}, {8, 0}});
  const Schedule b = place(p, 20, {{2, 0}, {4, 0}, {8, 0}});
  CHECK(differing_ops(p, a, b) == std::vector<OpId>{OpId(0)});
  const Difference most = compare_schedules(p, a, b, {Alignment::At::Most, {}});
  CHECK(most.shift == 0);
  CHECK(most.ops[0].delta == 2);
  CHECK(most.same_program());  // only idle time moved
  const Difference start = compare_schedules(p, a, b, {Alignment::At::IiStart, {}});
  CHECK(start.shift == -2);
  CHECK(start.ops[1].delta == -2);
  const Difference at_c = compare_schedules(p, a, b, {Alignment::At::Op, OpId(2)});
  CHECK(at_c.ops[2].delta == 0);
}

TEST_CASE("the first divergence names the op, the iteration and the group", "[core]") {
  const Problem p = chain();
  const Schedule a = place(p, 20, {{0, 0}, {4, 0}, {8, 0}});
  SECTION("another order") {
    const Difference d = compare_schedules(p, a, place(p, 20, {{0, 0}, {8, 0}, {4, 0}}));
    REQUIRE(d.first);
    CHECK(d.first->sentence == "group 0: after a, A issues b and B c");
    CHECK(d.first->at == 4);
    CHECK(d.first->ops == std::vector<OpId>{OpId(1), OpId(2)});
  }
  SECTION("another iteration") {
    const Difference d = compare_schedules(p, a, place(p, 20, {{0, 0}, {4, 0}, {28, 0}}));
    REQUIRE(d.first);
    CHECK(d.first->sentence == "group 0: after b, A issues c and B c of iteration k-1");
    CHECK(d.first->ops == std::vector<OpId>{OpId(2)});
    CHECK(d.ops[2].stage);
    CHECK_FALSE(d.ops[2].slot);
  }
  SECTION("another group") {
    const Difference d = compare_schedules(p, a, place(p, 20, {{0, 0}, {4, 0}, {8, 1}}));
    REQUIRE(d.first);
    CHECK(d.first->sentence == "group 0: after b, A issues c and B nothing more; in B c is in group 1");
    CHECK(d.ops[2].group);
    CHECK(d.ops[2].delta == 0);
    CHECK(differing_ops(p, a, place(p, 20, {{0, 0}, {4, 0}, {8, 1}})) == std::vector<OpId>{OpId(2)});
  }
}

TEST_CASE("streams that agree may still have rings or groups of another size", "[core]") {
  Problem p = chain();
  test::add_channel(p, OpId(0), 1024, {{OpId(1), 0, 4, 0}});
  const Schedule a = place(p, 20, {{0, 0}, {4, 0}, {8, 0}});
  Schedule b = a;
  b.depths[0] = a.depths[0] + 2;
  const Difference ring = compare_schedules(p, a, b);
  REQUIRE(ring.first);
  CHECK_FALSE(ring.same_program());
  CHECK(ring.first->channel == ChannelId(0));
  CHECK(ring.first->sentence.find("has 1 slot in A and 3 slots in B") != std::string::npos);
  CHECK(ring.same_times());
  b = a;
  b.groups[0].warps += 4;
  CHECK_FALSE(compare_schedules(p, a, b).same_program());
}

TEST_CASE("schedules of another II with the same streams are the same program", "[core]") {
  const Problem p = chain();
  const Difference d = compare_schedules(p, place(p, 20, {{0, 0}, {4, 0}, {8, 0}}), place(p, 30, {{0, 0}, {10, 0}, {20, 0}}));
  CHECK(d.same_program());
  CHECK_FALSE(d.same_times());
  CHECK(d.ops[1].delta == 6);
}
