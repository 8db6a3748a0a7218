// Circles of steps: where waits stand, and what the compiler makes of them.
#include "core/motion/circle.h"

#include <catch2/catch.hpp>

#include "core/library/library.h"
#include "core/motion/as_compiled.h"
#include "core/problem/resolve.h"
#include "core/timing/program_order.h"
#include "tests/core/motion/measured_loops.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::test;

TEST_CASE("waits stand before what reads a result, and before registers that an mma still reads are written", "[core]") {
  const Problem problem = problem_of(measured_loops()[2], machine_of("h100"));
  const motion::GroupCircles circles = motion::circles_of(problem, flash_attention(problem));
  const std::vector<std::string> text = motion::circle_text(problem, circles);
  REQUIRE(text.size() == 3);
  CHECK(text[0] == "free QK0@3 · free QK1@3 · copy load_k · free PV0@3 · free PV1@3 · copy load_v");
  CHECK(text[1] ==
        "take 0 · wait load_k · issue QK0 · wait load_v@1 · issue PV0@1 · pass 0 · wait QK0 · max0 · alpha0 · sub0 · exp0 · sum0 · "
        "wait PV0@1 · rescale0 · cvt0");
  CHECK(circles.turns == std::vector<std::size_t>{1, 2});
}

TEST_CASE("the compiler runs arithmetic between two waits behind the second, but for half of a maximum", "[core]") {
  const Problem problem = problem_of(measured_loops()[2], machine_of("h100"));
  const motion::GroupCircles written = motion::circles_of(problem, flash_attention(problem));
  const motion::GroupCircles compiled = motion::as_compiled(problem, written);
  CHECK(motion::circle_text(problem, compiled)[1] ==
        "take 0 · wait load_k · issue QK0 · wait load_v@1 · issue PV0@1 · pass 0 · wait QK0 · max0 · wait PV0@1 · max0 · alpha0 · sub0 · "
        "exp0 · sum0 · rescale0 · cvt0");
  const auto alone = [&](const motion::GroupCircles& circles, const char* name) {
    std::int64_t sum = 0;
    for (const motion::CircleStep& step : circles.groups[1])
      if (step.kind == motion::CircleStepKind::Arithmetic && problem.op(step.op).name == name) sum += step.work.alone;
    return sum;
  };
  CHECK(alone(compiled, "max0") == alone(written, "max0"));
  CHECK(alone(compiled, "exp0") == alone(written, "exp0"));
  CHECK(alone(compiled, "sum0") == alone(written, "sum0") / 10);
  CHECK(alone(compiled, "cvt0") == alone(written, "cvt0") / 10);
  CHECK(alone(compiled, "sub0") == alone(written, "sub0") / 4);
  CHECK(alone(compiled, "rescale0") == alone(written, "rescale0"));
  Problem as_text = problem;
  as_text.contention.reordered = false;
  CHECK(motion::as_compiled(as_text, written) == written);
}

TEST_CASE("the compiler runs arithmetic between two mmas of a turn behind the first instruction of the first", "[core]") {
  const MeasuredLoop& loop = measured_loops()[12];
  const Problem problem = problem_of(loop, machine_of("h100"));
  const motion::GroupCircles circles =
      motion::as_compiled(problem, motion::circles_of(problem, attention_program(problem, loop.consumers, loop.turns)));
  CHECK(motion::circle_text(problem, circles)[1] ==
        "take 0 · wait load_k · issue QK0 x 1 · rescale0@1 · issue QK0 x 3 · wait load_vt@1 · issue PV0@1 · pass 0 · wait QK0 · max0 · "
        "wait PV0@1 · max0 · shift0 · sub0 · exp0 · alpha0 · cvt0 · sum0");
}

TEST_CASE("an mma that nothing in the loop waits for is awaited when the next one is issued", "[core]") {
  const Problem problem = *resolve(*load_kernel(repository_path("kernels/gemm_hopper.json")), machine_of("h100"), {});
  timing::LoopProgram program;
  program.streams = *timing::parse_streams(problem, {"load_a0 load_b load_a1", "MMA0", "MMA1"});
  program.depths.assign(problem.channels.size(), 4);
  const std::vector<std::string> text = motion::circle_text(problem, motion::circles_of(problem, program));
  CHECK(text[1] == "wait load_a0 · wait load_b · issue MMA0 · wait MMA0@1");
  CHECK(text[2] == "wait load_a1 · wait load_b · issue MMA1 · wait MMA1@1");
}

TEST_CASE("a schedule stands for the program of its streams, depths and kept turns", "[core]") {
  const Problem problem = problem_of(measured_loops()[2], machine_of("h100"));
  const timing::LoopProgram program = flash_attention(problem);
  const timing::LoopTiming timing = timing::earliest_schedule(problem, program);
  REQUIRE_FALSE(timing.deadlock);
  const timing::LoopProgram again = motion::program_of(problem, timing.schedule);
  CHECK(again.streams.size() == 3);
  REQUIRE(again.turns.size() == 1);
  CHECK(again.turns[0].size() == 4);
  CHECK(motion::circles_of(problem, again).turns == std::vector<std::size_t>{1, 2});
}
