// Loops and kernels whose warp groups take time from each other, as the simulator tells them.
#include <catch2/catch.hpp>

#include "core/library/library.h"
#include "core/motion/motion.h"
#include "core/simulate/kernel_run.h"
#include "core/simulate/simulate.h"
#include "tests/core/motion/measured_loops.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::test;

namespace {

struct FlashAttention {
  Problem problem = problem_of(measured_loops()[2], machine_of("h100"));
  Schedule schedule;

  FlashAttention() {
    const timing::LoopTiming timing = timing::earliest_schedule(problem, flash_attention(problem));
    REQUIRE_FALSE(timing.deadlock);
    schedule = timing.schedule;
  }
};

void check_sums(const Simulation& run) {
  for (const GroupTime& group : run.groups) {
    Cycle sum = group.busy + group.idle;
    for (const Cycle stall : group.stalls) sum += stall;
    CHECK(sum == run.cycles);
    CHECK(group.idle >= 0);
  }
}

}  // namespace

TEST_CASE("the simulator tells a contended loop with the period of the rule", "[core]") {
  const FlashAttention a;
  const Simulation run = simulate(a.problem, a.schedule, {.trips = 100, .arbitration = Arbitration::Contended, .timeline = 3});
  CHECK(run.fault.empty());
  const motion::Motion motion = motion::motion_of(a.problem, a.schedule);
  CHECK(run.period.cycles() == Approx(motion.period.cycles()).margin(0.5));
  CHECK(run.cycles >= static_cast<Cycle>(100 * motion.period.cycles()) - 1);
  check_sums(run);
  CHECK(run.timeline.size() == 3 * a.problem.ops.size());
  for (const SimulatedOp& op : run.timeline) CHECK((op.issue >= 0 && op.start >= op.issue && op.end >= op.start));
}

TEST_CASE("a kernel whose groups take time from each other iterates as its loop does", "[core]") {
  const FlashAttention a;
  const Instance instance(spec_of(*load_kernel(repository_path("kernels/attention_forward_hopper.json")), machine_of("h100")), a.problem);
  KernelRunOptions options;
  options.trips = 20;
  options.loop.arbitration = Arbitration::Contended;
  const KernelRun run = run_kernel(instance, a.schedule, options);
  CHECK(run.fault.empty());
  CHECK(run.sm.period.cycles() == Approx(motion::motion_of(a.problem, a.schedule).period.cycles()).epsilon(0.01));
  CHECK(static_cast<double>(run.tile) >= 20 * run.sm.period.cycles());
  CHECK(run.cycles >= run.tile);
  check_sums(run.sm);
  options.ctas = 2;
  CHECK(run_kernel(instance, a.schedule, options).fault == "2 CTAs share an SM, and how they take time from each other is not known");
}
