// Programs of solved schedules, run on a machine with barriers: nothing stuck, nothing twice, nothing too early.
#include <catch2/catch.hpp>

#include "core/analysis/pipeline_program.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/search/solve.h"
#include "tests/support/paths.h"
#include "tests/support/pipeline_machine.h"
#include "tests/support/random_problem.h"
#include "tests/support/small_problem.h"

using namespace heddle;

namespace {

void run_it(const Problem& problem, const Schedule& schedule, std::mt19937& random, int times) {
  REQUIRE(check(problem, schedule).valid());
  const PipelineProgram program = pipeline_program(problem, schedule);
  int least = 1;
  for (const PipelineGroup& group : program.groups) least = std::max(least, group.stages);
  for (int t = 0; t < times; ++t) {
    const int iterations = least + static_cast<int>(random() % 7);
    CAPTURE(problem.kernel, schedule.ii, iterations, least);
    const std::string fault = test::run_pipeline(problem, schedule, program, iterations, random);
    REQUIRE(fault == "");
  }
}

}  // namespace

TEST_CASE("the pipeline of every shipped kernel's solved schedule runs to its end for any trip count", "[property]") {
  std::mt19937 random(7);
  int solved = 0;
  for (const char* kernel :
       {"attention_backward_blackwell", "attention_backward_hopper", "attention_forward_blackwell", "attention_forward_hopper",
        "attention_forward_tile_blackwell", "attention_forward_tile_hopper", "gemm_blackwell", "gemm_fp8_hopper", "gemm_hopper",
        "gemm_w4a16_hopper", "layernorm", "swiglu_dual_gemm_hopper", "toy_fig1"})
    for (const char* machine : {"h100", "b200", "toy"}) {
      const auto k = load_kernel(test::repository_path("kernels/" + std::string(kernel) + ".json"));
      const auto m = load_machine(test::repository_path("assets/machines/" + std::string(machine) + ".json"));
      REQUIRE(k);
      REQUIRE(m);
      const auto problem = resolve(*k, *m, {});
      if (!problem) continue;
      solver::SolveRequest request;
      request.problem = *problem;
      request.objectives = {};
      const SolveOutcome outcome = solver::solve(request);
      if (!outcome.schedule) continue;
      ++solved;
      run_it(*problem, *outcome.schedule, random, 40);
    }
  CHECK(solved >= 11);
}

TEST_CASE("the pipelines of random problems run to their end", "[property]") {
  std::mt19937 random(11);
  int solved = 0, groups = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Problem problem = test::random_problem(seed, {.max_ops = 7});
    solver::SolveRequest request;
    request.problem = problem;
    request.objectives = {};
    const SolveOutcome outcome = solver::solve(request);
    if (!outcome.schedule) continue;
    ++solved;
    groups += outcome.schedule->groups.size() > 1;
    CAPTURE(seed);
    run_it(problem, *outcome.schedule, random, 8);
  }
  CHECK(solved > 100);
  CHECK(groups > 30);
}

TEST_CASE("a load that needs its own value from before the ring's last refill does not wait on a phase that is gone", "[property]") {
  Problem p = test::empty_problem();
  p.max_groups = 2;
  const OpId load = test::add_op(p, "load", 3), reader = test::add_op(p, "reader", 2, 1);
  p.ops[load.index()].asynchronous = p.ops[load.index()].variable_latency = true;
  Reader r;
  r.op = reader;
  const ChannelId ring = test::add_channel(p, load, 16, {r});
  p.channels[ring.index()].only_if_crossing = true;
  for (const auto& [to, distance] : {std::pair(reader, 0), std::pair(load, 2)}) {
    Edge& edge = test::add_edge(p, load, to, 3, distance);
    edge.waits = true;
    edge.value = p.channels[ring.index()].values.front();
  }
  const Schedule schedule = test::place(p, 6, {{0, 0}, {3, 1}});
  REQUIRE(schedule.depth(ring) == 1);
  std::mt19937 random(5);
  run_it(p, schedule, random, 40);
}

TEST_CASE("a pipeline without one of its waits, acquires or signals goes wrong", "[property]") {
  const auto kernel = load_kernel(test::repository_path("kernels/gemm_hopper.json"));
  const auto machine = load_machine(test::repository_path("assets/machines/h100.json"));
  REQUIRE(kernel);
  REQUIRE(machine);
  const auto problem = resolve(*kernel, *machine, {});
  REQUIRE(problem);
  solver::SolveRequest request;
  request.problem = *problem;
  request.objectives = {};
  const SolveOutcome outcome = solver::solve(request);
  REQUIRE(outcome.schedule);
  const PipelineProgram whole = pipeline_program(*problem, *outcome.schedule);
  const int shallowest = *std::min_element(outcome.schedule->depths.begin(), outcome.schedule->depths.end());
  std::mt19937 random(3);
  for (std::size_t g = 0; g < whole.groups.size(); ++g)
    for (std::size_t l = 0; l < whole.groups[g].lines.size(); ++l) {
      // A shallower ring of the same writer holds it back in time.
      const PipelineLine& line = whole.groups[g].lines[l];
      if (line.kind == PipelineLine::Kind::Acquire && outcome.schedule->depth(line.channel) > shallowest) continue;
      PipelineProgram broken = whole;
      broken.groups[g].lines.erase(broken.groups[g].lines.begin() + static_cast<std::ptrdiff_t>(l));
      CAPTURE(g, l, static_cast<int>(line.kind));
      bool found = false;
      for (int t = 0; t < 400 && !found; ++t) found = !test::run_pipeline(*problem, *outcome.schedule, broken, 9, random).empty();
      CHECK(found);
    }
}
