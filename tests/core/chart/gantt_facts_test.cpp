// What the timeline says about resources, limits and broken rules.
#include "core/chart/gantt_facts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/support/gantt_fixture.h"
#include "tests/support/problem_builder.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

const GanttLane* find_lane(const GanttModel& model, const std::string& label) {
  for (const GanttLane& lane : model.lanes)
    if (lane.label == label) return &lane;
  return nullptr;
}

/// Any placement: usage does not ask whether a schedule is legal.
Schedule random_schedule(const Problem& problem, std::mt19937& random) {
  Schedule schedule;
  schedule.ii = 2 + static_cast<Cycle>(random() % 12);
  const std::size_t groups = 1 + random() % 3;
  for (std::size_t g = 0; g < groups; ++g) schedule.groups.push_back({"group", 4, 0});
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    schedule.ops.push_back({static_cast<Cycle>(random() % 30), GroupId(random() % groups)});
  schedule.depths.assign(problem.channels.size(), 1);
  return schedule;
}

}  // namespace

TEST_CASE("far from its ends a run uses what the window uses", "[core]") {
  const unsigned seed = 91;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 150; ++round) {
    const Problem problem = test::random_problem(random());
    const Schedule schedule = random_schedule(problem, random);
    const int iterations = 60;
    const Usage window = compute_usage(problem, schedule);
    const Usage run = compute_run_usage(problem, schedule, iterations, iterations * schedule.ii);
    const Cycle base = iterations / 2 * schedule.ii;
    for (Cycle slot = 0; slot < schedule.ii; ++slot) {
      for (std::size_t u = 0; u < problem.units.size(); ++u)
        REQUIRE(value_at(run.units[u], base + slot) == value_at(window.units[u], slot));
      for (std::size_t g = 0; g < schedule.groups.size(); ++g)
        REQUIRE(value_at(run.registers[g], base + slot) == value_at(window.registers[g], slot));
      REQUIRE(value_at(run.smem_live, base + slot) == value_at(window.smem_live, slot));
      REQUIRE(value_at(run.tmem_live, base + slot) == value_at(window.tmem_live, slot));
    }
    CHECK(run.register_peak == window.register_peak);
    CHECK(run.smem_bytes == window.smem_bytes);
  }
}

TEST_CASE("a run fills and drains: units start empty, carried values are there from the start", "[core]") {
  test::ProblemBuilder builder;
  const OpId s = builder.op("S", "TC", 4), o = builder.op("O", "TC", 3);
  builder.registers(s, 16, {{o, 0}});
  builder.registers(o, 32, {{o, 1}});
  Schedule schedule;
  schedule.ii = 10;
  schedule.groups = {{"consumer A", 4, 0}};
  schedule.ops = {{0, GroupId(0)}, {16, GroupId(0)}};
  schedule.depths.assign(builder.problem.channels.size(), 0);
  const Usage run = compute_run_usage(builder.problem, schedule, 2, 29);
  CHECK(value_at(run.units[0], 1) == 1);
  CHECK(value_at(run.units[0], 6) == 0);  // O of the iteration before the first does not exist
  CHECK(value_at(run.units[0], 16) == 1);
  CHECK(value_at(run.units[0], 26) == 1);
  CHECK(run.busy[0] == 2 * (4 + 3));
  const std::int64_t idle = builder.problem.resident_registers + builder.problem.limits.register_overhead;
  CHECK(value_at(run.registers[0], 6) >= idle + 32);  // the accumulator, zeroed before the loop
}

TEST_CASE("lanes: compute first, capacity and peak in words, no lane for an idle unit", "[core]") {
  const test::GanttCase c = test::attention_case();
  const GanttModel model = build_gantt(c.problem, c.schedule);
  std::vector<std::string> labels;
  for (const GanttLane& lane : model.lanes) labels.push_back(lane.label);
  CHECK(labels == std::vector<std::string>{"TC", "MUFU", "FMA", "ALU", "TMA", "SMEM port"});
  const GanttLane* tensor = find_lane(model, "TC");
  REQUIRE(tensor);
  CHECK(tensor->detail == "50 %");
  CHECK(tensor->capacity == 1);
  CHECK(tensor->peak == 1);
  CHECK(lane_value(*tensor, 1) == "100 %");
  CHECK(value_at(tensor->profile, 719) == 0);
  CHECK(value_at(tensor->profile, 720) == 1);

  test::GanttCase idle = c;
  idle.problem.units.push_back({"spare", UnitRole::Other, 1, {}, {}});
  CHECK(find_lane(build_gantt(idle.problem, idle.schedule), "spare") == nullptr);
}

TEST_CASE("a memory's lane tells what is live from what is allocated", "[core]") {
  test::ProblemBuilder b({"TC", "TMA"});
  const OpId load = b.load("load", "TMA", 10, 20), use = b.op("use", "TC", 10);
  b.ring(load, 64 * 1024, {{use, 0}});
  Schedule schedule;
  schedule.ii = 100;
  schedule.groups = {{"producer", 1, 0}, {"consumer", 4, 0}};
  schedule.ops = {{0, GroupId(0)}, {30, GroupId(1)}};
  schedule.depths = {2};
  const GanttModel model = build_gantt(b.problem, schedule);
  const GanttLane* smem = find_lane(model, "SMEM live");
  REQUIRE(smem);
  CHECK(smem->peak == 64 * 1024);
  CHECK(smem->allocated == 128 * 1024);
  CHECK(smem->detail == "peak 64 of 128 KiB");
  CHECK(lane_value(*smem, 0) == "0 of 128 KiB");
  CHECK(smem->full() >= smem->allocated);
}

TEST_CASE("a unit that misses one cycle of many is not 100 % busy", "[core]") {
  test::GanttCase c = test::toy_case();
  c.schedule.ii = 100000;
  c.problem.ops[0].uses[0].duration = 99999;
  c.schedule.ops[0].start = 0;
  c.problem.ops[2].uses.clear();
  CHECK(find_lane(build_gantt(c.problem, c.schedule), "TC")->detail == "99.9 %");
}

TEST_CASE("ops on the binding unit are critical where it sets II", "[core]") {
  const test::GanttCase toy = test::toy_case();
  const std::vector<bool> critical = critical_ops(toy.problem, toy.schedule);
  CHECK(critical[0]);  // S and O share the tensor core: 2 cycles of 2
  CHECK(critical[2]);
  const GanttModel model = build_gantt(toy.problem, toy.schedule);
  for (const GanttBar& bar : model.bars) CHECK(bar.critical == critical[bar.op.index()]);
}
