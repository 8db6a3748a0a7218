// How much longer an op may take before a period does.
#include "core/motion/period_slack.h"

#include <catch2/catch.hpp>

#include "tests/support/problem_builder.h"
#include "tests/support/small_attention.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

std::vector<OpId> all_ops(const Problem& problem) {
  std::vector<OpId> ops;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) ops.push_back(OpId(v));
  return ops;
}

/// One group: an mma of four instructions of 100 cycles, and arithmetic of 200.
Problem mma_and_work(bool waits) {
  Problem problem = empty_problem();
  const UnitId tc = add_unit(problem, "TC"), fma = add_unit(problem, "FMA");
  problem.units[tc.index()].role = UnitRole::Tensor;
  problem.units[fma.index()].role = UnitRole::Float;
  const OpId mma = add_op(problem, "mma", 430, 16, {{tc, 0, 400, 1}}), work = add_op(problem, "work", 200, 200, {{fma, 0, 200, 1}});
  problem.ops[mma.index()].asynchronous = problem.ops[mma.index()].aligned = true;
  problem.ops[mma.index()].instructions = 4;
  if (waits) add_edge(problem, mma, work, 430).waits = true;
  problem.contention.known = true;
  problem.contention.in_flight.value = 3;
  problem.contention.product_done.value = 50;
  problem.contention.fence.value = 10;
  problem.contention.issue_step.value = 12;
  return problem;
}

}  // namespace

TEST_CASE("what waits for an mma may take no longer, and what runs beside it may", "[core]") {
  for (const bool waits : {true, false}) {
    CAPTURE(waits);
    const Problem problem = mma_and_work(waits);
    const Schedule schedule = place(problem, 700, {{0, 0}, {450, 0}});
    const auto slack = motion::period_slack(problem, schedule, all_ops(problem));
    REQUIRE(slack.size() == 2);
    CHECK(slack[0].cycles == 0);
    REQUIRE(slack[1].cycles);
    if (waits)
      CHECK(slack[1].cycles == 0);
    else
      CHECK(slack[1].cycles == 400 - 200 - 122);  // the fourth instruction is accepted when the first has ended: fence 10, 100, 12
  }
}

TEST_CASE("with its slack an op leaves the period as it is, and with one cycle more it does not", "[core]") {
  Problem problem = small_attention(false, 16);
  problem.contention.reordered = false;
  const Schedule schedule = small_attention_schedule(problem);
  const double period = motion::motion_of(problem, schedule).period.cycles();
  for (const motion::OpGrowth& row : motion::period_slack(problem, schedule, {problem.find_op("P0"), problem.find_op("P1")})) {
    CAPTURE(problem.op(row.op).name);
    REQUIRE(row.cycles);
    const auto with = [&](std::int64_t cycles) {
      Problem longer = problem;
      longer.ops[row.op.index()].work.alone += cycles * motion::kCycle;
      return motion::motion_of(longer, schedule).period.cycles();
    };
    CHECK(with(*row.cycles) <= period * (1 + motion::kPeriodGrowth));
    CHECK(with(*row.cycles + 1) > period * (1 + motion::kPeriodGrowth));
  }
}

TEST_CASE("without contention, or when stopped, a period has no slack to tell", "[core]") {
  Problem problem = small_attention(true, 16);
  const Schedule schedule = small_attention_schedule(problem);
  std::stop_source stopped;
  stopped.request_stop();
  CHECK(motion::period_slack(problem, schedule, all_ops(problem), stopped.get_token()).empty());
  problem.contention = {};
  CHECK(motion::period_slack(problem, schedule, all_ops(problem)).empty());
}
