// Lanes of barriers against what the schedule's own numbers say of its rings and turns.
#include "core/chart/barrier_lanes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "core/analysis/channels.h"
#include "core/chart/gantt_model.h"
#include "core/chart/text_timeline.h"
#include "tests/support/gantt_fixture.h"
#include "tests/support/problem_builder.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_problem.h"

using namespace heddle;

namespace {

using State = BarrierSpan::State;

/// Two loads, a product of each of two groups that also do other work: two rings and a turn.
test::GanttCase ping_pong() {
  test::ProblemBuilder b({"TC", "TMA", "FMA"});
  const OpId load_a = b.load("load_a", "TMA", 100, 300), load_b = b.load("load_b", "TMA", 100, 300);
  const OpId first = b.async_op("first", "TC", 200, 230, 32), second = b.async_op("second", "TC", 200, 230, 32);
  const OpId sum = b.op("sum", "FMA", 64, 64), other = b.op("other", "FMA", 64, 64);
  b.ring(load_a, 16384, {{first, 0}}, 20);
  b.ring(load_b, 16384, {{second, 0}}, 20);
  b.registers(first, 64, {{sum, 0}}, 0);
  b.registers(second, 64, {{other, 0}}, 0);
  test::GanttCase c{b.problem, {}};
  for (Unit& unit : c.problem.units)
    if (unit.name == "TC") unit.role = UnitRole::Tensor;
  c.schedule = test::place(c.problem, 400, {{0, 0}, {100, 0}, {400, 1}, {600, 2}, {700, 1}, {900, 2}});
  const char* roles[] = {"producer", "consumer A", "consumer B"};
  for (std::size_t g = 0; g < c.schedule.groups.size(); ++g)
    c.schedule.groups[g].role = roles[g], c.schedule.groups[g].warps = g == 0 ? 1 : 4;
  return c;
}

const BarrierLane* find(const std::vector<BarrierLane>& lanes, const std::string& label) {
  const auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const BarrierLane& l) { return l.label == label; });
  return lane == lanes.end() ? nullptr : &*lane;
}

Cycle total(const BarrierLane& lane) {
  Cycle sum = 0;
  for (const BarrierSpan& span : lane.spans) sum += span.end - span.begin;
  return sum;
}

}  // namespace

TEST_CASE("over one window a ring's slots are taken as long as one of them lives", "[core]") {
  const test::GanttCase c = ping_pong();
  const std::vector<BarrierLane> lanes = barrier_lanes(c.problem, c.schedule, {0, c.schedule.ii, std::nullopt});
  int rings = 0;
  for (std::size_t k = 0; k < c.problem.channels.size(); ++k) {
    if (c.schedule.depths[k] == 0) continue;
    const BarrierLane* lane = find(lanes, c.problem.channels[k].name);
    REQUIRE(lane);
    ++rings;
    CHECK(lane->slots == c.schedule.depths[k]);
    CHECK(total(*lane) >= slot_life(c.problem.channels[k], c.schedule));
    CHECK(total(*lane) <= c.schedule.ii * lane->slots);
    // What happens in a slot happens one after the other.
    for (std::size_t i = 1; i < lane->spans.size(); ++i)
      if (lane->spans[i].slot == lane->spans[i - 1].slot) CHECK(lane->spans[i].begin >= lane->spans[i - 1].end);
  }
  CHECK(rings >= 2);
}

TEST_CASE("in a run a slot is filled, full, read, in this order, and its phase turns with every round", "[core]") {
  const test::GanttCase c = ping_pong();
  const int iterations = 7;
  const std::vector<BarrierLane> lanes = barrier_lanes(c.problem, c.schedule, {-10'000, 10'000, iterations});
  for (const BarrierLane& lane : lanes) {
    INFO(lane.label);
    if (lane.kind != BarrierLane::Kind::Ring) continue;
    int seen = 0;
    for (const BarrierSpan& span : lane.spans) {
      CHECK(span.slot == span.iteration % lane.slots);
      CHECK(span.phase == span.iteration / lane.slots % 2);
      seen += span.state == State::Filling;
    }
    CHECK(seen == iterations);
  }
}

TEST_CASE("a turn is always one group's: held, then passed on to the next", "[core]") {
  const test::GanttCase c = ping_pong();
  const std::vector<BarrierLane> lanes = barrier_lanes(c.problem, c.schedule, {0, c.schedule.ii, std::nullopt});
  const BarrierLane* turn = find(lanes, "turn on TC");
  REQUIRE(turn);
  CHECK(total(*turn) == c.schedule.ii);
  std::set<std::size_t> holders;
  for (std::size_t i = 0; i < turn->spans.size(); ++i) {
    if (i > 0) CHECK(turn->spans[i].begin == turn->spans[i - 1].end);
    if (turn->spans[i].state == State::Held) holders.insert(turn->spans[i].group.index());
  }
  CHECK(holders == std::set<std::size_t>{1, 2});
  Schedule without = c.schedule;
  without.turns = false;
  CHECK_FALSE(find(barrier_lanes(c.problem, without, {0, c.schedule.ii, std::nullopt}), "turn on TC"));
}

TEST_CASE("lanes of barriers are there where they are asked for, also as text, and say what they show", "[core]") {
  const test::GanttCase c = ping_pong();
  GanttOptions options;
  CHECK(build_gantt(c.problem, c.schedule, options).barriers.empty());
  options.barriers = true;
  const GanttModel model = build_gantt(c.problem, c.schedule, options);
  const std::string text = text_timeline(model, {});
  CHECK(text.find("barriers\n") != std::string::npos);
  CHECK(text.find("turn on TC") != std::string::npos);
  for (const BarrierLane& lane : model.barriers)
    for (const BarrierSpan& span : lane.spans) {
      CHECK(span.begin >= model.begin);
      CHECK(span.end <= model.end);
      CHECK(span_text(c.problem, c.schedule, lane, span, true).find(" cycles)") != std::string::npos);
    }
}

TEST_CASE("a schedule that breaks every rule has lanes of barriers as well", "[core]") {
  const unsigned seed = 17;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 40; ++round) {
    const Problem problem = test::random_problem(random());
    Schedule schedule;
    schedule.ii = 1 + static_cast<Cycle>(random() % 12);
    for (int g = 0; g < 3; ++g) schedule.groups.push_back({"", 4, 0});
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      schedule.ops.push_back({static_cast<Cycle>(random() % 1'000'000'000), GroupId(random() % 3)});
    schedule.depths.assign(problem.channels.size(), static_cast<int>(random() % 4));
    for (const BarrierLane& lane : barrier_lanes(problem, schedule, {0, schedule.ii, std::nullopt}))
      for (const BarrierSpan& span : lane.spans) {
        CHECK(span.begin <= span.end);
        CHECK(span.slot < lane.slots);
        (void)span_text(problem, schedule, lane, span, false);
      }
  }
}
