// What is made of a simulation: text, CSV, JSON, picture, trace; hostile names included.
#include "core/answers/simulation.h"

#include <catch2/catch.hpp>

#include "core/chart/chrome_trace.h"
#include "core/chart/contended_gantt.h"
#include "core/chart/svg.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/gantt_fixture.h"
#include "tests/support/golden.h"
#include "tests/support/json_schema.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

struct Toy {
  Kernel kernel = *load_kernel(test::repository_path("kernels/toy_fig1.json"));
  Machine machine = *load_machine(test::repository_path("assets/machines/toy.json"));
  Problem problem = *resolve(kernel, machine);
  Schedule schedule;

  Toy() {
    schedule = test::toy_case().schedule;
    schedule.depths.assign(problem.channels.size(), 0);
  }
  SimulationAnswer answer(KernelRunOptions options = {}) const {
    options.loop.timeline = 4;
    return simulate_kernel(Instance(spec_of(kernel, machine), problem), schedule, options);
  }
};

}  // namespace

TEST_CASE("the simulated toy as JSON is what the schema was written for", "[core]") {
  const Toy toy;
  REQUIRE(toy.problem.ops.size() == toy.schedule.ops.size());
  const std::string text = simulation_json(toy.machine, toy.problem, toy.schedule, toy.answer()).pretty();
  CHECK(test::golden_difference("simulation.json", text) == "");
  CHECK(parse_json(text, "").ok());
}

TEST_CASE("the summary says period, kernel, groups and waits, and nothing a terminal could obey", "[core]") {
  Toy toy;
  toy.problem.ops[0].name = "S\x1b[31m";
  toy.schedule.groups[0].role = "role\n\a";
  const SimulationAnswer answer = toy.answer();
  const std::string text = simulation_summary(toy.machine, toy.problem, toy.schedule, answer, {});
  for (const char* word : {"simulated period 2 cycles", "II 2", "sustainable 2", "tile", "issuing", "credit", "cycles"})
    CHECK(text.find(word) != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\a') == std::string::npos);
  const std::string csv = simulation_csv(answer);
  CHECK(csv.find("op,section,group,role,data_cycles") == 0);
  CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\r')) == 1 + answer.kernel.program.problem.ops.size());
}

TEST_CASE("a deadlock is one sentence everywhere", "[core]") {
  Toy toy;
  toy.schedule.ops[0].start = 5;
  toy.schedule.ops[1].start = 3;
  const SimulationAnswer answer = toy.answer();
  CHECK(answer.loop.deadlock);
  CHECK(simulation_summary(toy.machine, toy.problem, toy.schedule, answer, {}).find("deadlock: ") != std::string::npos);
  const Json json = simulation_json(toy.machine, toy.problem, toy.schedule, answer);
  CHECK(test::schema_fault(simulation_schema(), json) == "");
  CHECK(*json.find("deadlock")->boolean());
  CHECK(json.find("run")->is_null());
}

TEST_CASE("bars of a simulated run lie at their times, and lanes keep them apart", "[core]") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const test::GanttCase c = test::random_case(random);
    SimulateOptions options;
    options.trips = options.timeline = 6;
    const Simulation run = simulate(c.problem, c.schedule, options);
    if (!run.fault.empty()) continue;
    const GanttModel model = build_run_gantt(c.problem, c.schedule, run.timeline);
    CHECK(model.bars.size() == run.timeline.size());
    CHECK(model.marks.size() == 6);
    for (std::size_t b = 1; b < model.bars.size(); ++b) {
      const GanttBar &last = model.bars[b - 1], &bar = model.bars[b];
      CHECK(bar.end <= model.end);
      CHECK(bar.lane < model.rows[bar.row].lanes);
      if (last.row == bar.row && last.lane == bar.lane) CHECK(last.end <= bar.begin);
    }
    CHECK(gantt_svg(model).find("<svg") == 0);
    CHECK(parse_json(simulation_trace(c.problem, c.schedule, run.timeline), "").ok());
  }
}

TEST_CASE("studies print one row per point, number without effect aside", "[core]") {
  const Toy toy;
  StudyOptions options;
  options.runs = 1;
  const auto points = jitter_study(toy.problem, toy.schedule, options);
  CHECK(jitter_summary(toy.schedule, points, options).find("100 %") != std::string::npos);
  CHECK(jitter_csv(points).find("jitter_percent,") == 0);
  const DepthStudy depths = depth_study(toy.problem, toy.schedule, options);
  CHECK(depths.rows.empty());
  CHECK(depth_summary(toy.problem, toy.schedule, depths, options).find("no ring") != std::string::npos);
  CHECK(*jitter_json(toy.problem, toy.schedule, points, options).find("study")->string() == "jitter");
  CHECK(*depth_json(toy.problem, toy.schedule, depths, options).find("study")->string() == "depth");
  CHECK(test::schema_fault(simulation_schema(), jitter_json(toy.problem, toy.schedule, points, options)) == "");
  CHECK(test::schema_fault(simulation_schema(), depth_json(toy.problem, toy.schedule, depths, options)) == "");
}
