// What a period consists of, where it is known by hand.
#include "core/motion/period_parts.h"

#include <catch2/catch.hpp>

#include <random>

#include "core/timing/program.h"
#include "tests/core/motion/measured_loops.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_schedule.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// One group: an mma of four instructions of 100 cycles, and arithmetic of 200 that reads 100 registers.
struct MmaAndWork {
  Problem problem = empty_problem();
  timing::LoopProgram program;

  explicit MmaAndWork(bool waits) {
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
};

double part(const motion::PeriodParts& parts, const std::string& name) {
  for (const motion::PeriodPart& p : parts.parts)
    if (p.name == name) return p.cycles;
  return -1;
}

void check_sum(const motion::PeriodParts& parts) {
  double sum = 0;
  for (const motion::PeriodPart& p : parts.parts) {
    CHECK(p.cycles >= 0);
    sum += p.cycles;
  }
  CHECK(sum == Approx(parts.period));
}

}  // namespace

TEST_CASE("a group that waits for its mma has the tensor core's work, the fence, and the rest as a chain", "[core]") {
  const MmaAndWork one(true);
  const auto parts = motion::period_parts(one.problem, one.program);
  REQUIRE(parts);
  REQUIRE(parts->parts.size() == 5);
  CHECK(parts->period == Approx(10 + 400 + 50 + 200).margin(0.02));
  CHECK(part(*parts, "tensor work") == Approx(400));
  CHECK(part(*parts, "chain") == Approx(50 + 200).margin(0.02));
  CHECK(part(*parts, "holds") == Approx(10).margin(0.02));
  CHECK(part(*parts, "register reads") == Approx(0).margin(0.02));
  CHECK(part(*parts, "turns") == 0);
  check_sum(*parts);
}

TEST_CASE("a tensor core that never rests has its work and what reads take from it", "[core]") {
  const MmaAndWork one(false);
  const auto parts = motion::period_parts(one.problem, one.program);
  REQUIRE(parts);
  CHECK(part(*parts, "tensor work") == Approx(400));
  CHECK(part(*parts, "register reads") == Approx(50).margin(0.1));
  CHECK(part(*parts, "chain") == Approx(0).margin(0.1));
  check_sum(*parts);
}

TEST_CASE("a period without contention is not taken apart", "[core]") {
  MmaAndWork one(true);
  one.problem.contention = {};
  CHECK_FALSE(motion::period_parts(one.problem, one.program));
}

TEST_CASE("parts of the measured loops are not negative and make up the period", "[core]") {
  const Machine machine = machine_of("h100");
  for (const MeasuredLoop& loop : measured_loops()) {
    INFO(loop.name);
    const Problem problem = problem_of(loop, machine);
    const timing::LoopProgram program = attention_program(problem, loop.consumers, loop.turns);
    const auto parts = motion::period_parts(problem, program);
    REQUIRE(parts);
    CHECK(parts->period == motion::motion_of(problem, program).period.cycles());
    CHECK(part(*parts, "tensor work") > 0);
    check_sum(*parts);
  }
}

TEST_CASE("parts of random programs are not negative and make up the period", "[core]") {
  const Contention contention = machine_of("h100").contention;
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    Problem problem = random_problem(seed, {.min_ops = 2, .max_ops = 10, .max_cost = 50});
    for (Op& op : problem.ops) op.asynchronous |= random() % 4 == 0;
    for (Edge& edge : problem.edges) edge.waits |= problem.op(edge.from).asynchronous;
    if (seed % 2 == 0 && !problem.units.empty()) problem.units[0].role = UnitRole::Tensor;
    problem.contention = contention;
    if (const auto parts = motion::period_parts(problem, random_schedule(problem, random))) check_sum(*parts);
  }
}
