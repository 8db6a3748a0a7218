// The rule of motion: loops that were measured, circles whose period is known by hand, and what must not matter.
#include "core/motion/motion.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "core/motion/as_compiled.h"
#include "core/timing/program.h"
#include "tests/core/motion/measured_loops.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_schedule.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

std::vector<double> periods_of(const Machine& machine) {
  std::vector<double> periods;
  for (const MeasuredLoop& loop : measured_loops()) {
    const Problem problem = problem_of(loop, machine);
    periods.push_back(motion::motion_of(problem, attention_program(problem, loop.consumers, loop.turns)).period.cycles());
  }
  return periods;
}

/// One group: an mma of four instructions of 100 cycles, and arithmetic of 200 that reads 100 registers.
struct OneGroup {
  Problem problem = empty_problem();
  timing::LoopProgram program;

  explicit OneGroup(bool waits) {
    const UnitId tc = add_unit(problem, "TC"), fma = add_unit(problem, "FMA");
    problem.units[tc.index()].role = UnitRole::Tensor;
    problem.units[fma.index()].role = UnitRole::Float;
    const OpId mma = add_op(problem, "mma", 430, 16, {{tc, 0, 400, 1}}), work = add_op(problem, "work", 200, 200, {{fma, 0, 200, 1}});
    Op& product = problem.ops[mma.index()];
    product.asynchronous = product.aligned = true;
    product.instructions = 4;
    problem.ops[work.index()].work = {200 * 256, 0, 100 * 256, 0, 100 * 256};
    if (waits) add_edge(problem, mma, work, 430).waits = true;
    Contention& c = problem.contention;
    c.known = true;
    c.in_flight.value = 3;
    c.late_per_read.shared.value = 1000;
    c.product_per_read.shared.value = 500;
    c.product_done.value = 50;
    c.fence.value = 10;
    c.issue_step.value = 12;
    program.streams = *timing::parse_streams(problem, {"mma work"});
  }
  motion::Motion run() const { return motion::motion_of(problem, program, {.spans = true}); }
};

}  // namespace

TEST_CASE("reads and special functions that delay nothing make measured loops shorter", "[core]") {
  const Machine machine = machine_of("h100");
  const std::vector<double> periods = periods_of(machine);
  Machine without = machine;
  without.contention.late_per_read = without.contention.product_per_read = {};
  without.contention.late_per_special = {};
  const std::vector<double> shorter = periods_of(without);
  for (std::size_t i = 0; i < periods.size(); ++i) CHECK(shorter[i] < 0.95 * periods[i]);
}

TEST_CASE("a group that waits for its mma takes the time of both, with the fence before and the way back", "[core]") {
  const motion::Motion motion = OneGroup(true).run();
  CHECK(motion.fault.empty());
  REQUIRE(motion.period.exact);
  CHECK(motion.period.iterations == 1);
  CHECK(motion.period.cycles() == Approx(10 + 400 + 50 + 200).margin(0.02));
}

TEST_CASE("reads beside an mma are late and delay it", "[core]") {
  // The tensor core never rests: 400 cycles, and half a cycle for each of 100 reads.
  const motion::Motion motion = OneGroup(false).run();
  REQUIRE(motion.period.exact);
  CHECK(motion.period.cycles() == Approx(450).margin(0.1));
  for (const motion::MotionSpan& span : motion.spans)
    if (!span.tensor && span.step == 2) CHECK(static_cast<double>(span.end - span.begin) / motion::kCycle == Approx(300).margin(0.1));
}

TEST_CASE("a machine without contention lets arithmetic and mmas alone", "[core]") {
  OneGroup one(false);
  one.problem.contention = {};
  CHECK(one.run().period.ticks == 400 * motion::kCycle);
}

TEST_CASE("groups that wait for each other in a circle are told", "[core]") {
  Problem problem = empty_problem();
  const UnitId fma = add_unit(problem, "FMA");
  problem.units[fma.index()].role = UnitRole::Float;
  const OpId a = add_op(problem, "a", 10, 10, {{fma, 0, 10, 1}}), b = add_op(problem, "b", 10, 10, {{fma, 0, 10, 1}});
  add_edge(problem, a, b, 10);
  add_edge(problem, b, a, 10);
  timing::LoopProgram program;
  program.streams = *timing::parse_streams(problem, {"a", "b"});
  const motion::Motion motion = motion::motion_of(problem, program);
  CHECK(motion.stuck);
  CHECK(motion.fault == "group 0 waits for b; group 1 waits for a");
  CHECK(motion::shorter({10, 1, true}, motion.period));
  CHECK_FALSE(motion::shorter(motion.period, {10, 1, true}));
}

TEST_CASE("the same program moves the same way twice, wherever its streams begin", "[core]") {
  const Machine machine = machine_of("h100");
  for (const MeasuredLoop& loop : measured_loops()) {
    INFO(loop.name);
    const Problem problem = problem_of(loop, machine);
    timing::LoopProgram program = attention_program(problem, loop.consumers, loop.turns);
    const motion::MotionPeriod once = motion::motion_of(problem, program).period;
    const motion::MotionPeriod again = motion::motion_of(problem, program).period;
    CHECK(once.exact);
    CHECK(std::pair(once.ticks, once.iterations) == std::pair(again.ticks, again.iterations));
    for (auto& stream : program.streams) {
      // The first three ops come last, of the turn before.
      for (std::size_t i = 0; i < std::min<std::size_t>(3, stream.size() - 1); ++i) {
        timing::StreamStep first = stream.front();
        stream.erase(stream.begin());
        for (timing::StreamStep& step : stream) ++step.stage;
        stream.push_back(first);
      }
    }
    const motion::MotionPeriod turned = motion::motion_of(problem, program).period;
    if (loop.turns.empty()) continue;
    CHECK(static_cast<double>(turned.ticks) / static_cast<double>(turned.iterations) ==
          Approx(static_cast<double>(once.ticks) / static_cast<double>(once.iterations)).epsilon(0.001));
  }
}

TEST_CASE("spans of a group fill the period without a gap", "[core]") {
  const MeasuredLoop& loop = measured_loops().front();
  const Problem problem = problem_of(loop, machine_of("h100"));
  const motion::Motion motion = motion::motion_of(problem, attention_program(problem, loop.consumers, loop.turns), {.spans = true});
  std::vector<motion::Ticks> own(3, 0), tensor(3, 0);
  for (const motion::MotionSpan& span : motion.spans) {
    CHECK(span.end > span.begin);
    (span.tensor ? tensor : own)[span.group] += span.end - span.begin;
  }
  for (const std::size_t group : {0, 1, 2}) CHECK(own[group] == motion.period.ticks);
  CHECK(tensor[1] + tensor[2] <= motion.period.ticks);
  CHECK(tensor[1] >= 1024 * motion::kCycle * motion.period.iterations);
}

TEST_CASE("a program that is not seen to repeat itself has the mean of its run", "[core]") {
  for (const MeasuredLoop& loop : measured_loops()) {
    INFO(loop.name);
    const Problem problem = problem_of(loop, machine_of("h100"));
    const timing::LoopProgram program = attention_program(problem, loop.consumers, loop.turns);
    const motion::MotionPeriod mean = motion::motion_of(problem, program, {.most_turns = 4}).period;
    const motion::Motion whole = motion::motion_of(problem, program);
    CHECK(mean.iterations > 0);
    CHECK(mean.cycles() == Approx(whole.period.cycles()).epsilon(0.02));
  }
}

TEST_CASE("any schedule of any problem moves, or is told what it waits for", "[core]") {
  const Contention contention = machine_of("h100").contention;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    Problem problem = random_problem(seed, {.min_ops = 2, .max_ops = 10, .max_cost = 50});
    for (Op& op : problem.ops) op.asynchronous |= random() % 4 == 0;
    for (Edge& edge : problem.edges) edge.waits |= problem.op(edge.from).asynchronous;
    if (seed % 2 == 0 && !problem.units.empty()) problem.units[0].role = UnitRole::Tensor;
    if (seed % 3 != 0) problem.contention = contention;
    problem.barrier_wait = random() % 40;
    const motion::Motion motion = motion::motion_of(problem, random_schedule(problem, random), {.spans = true, .most_turns = 50});
    CHECK((motion.stuck != motion.fault.empty()));
    CHECK((motion.stuck || motion.period.iterations > 0));
  }
}
