// Simulation of solved schedules: the period is what the event graph says, and never above II.
#include <catch2/catch.hpp>

#include "core/analysis/period.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/simulate/kernel_run.h"
#include "core/simulate/sm_run.h"
#include "solver/search/solve.h"
#include "tests/support/paths.h"
#include "tests/support/random_problem.h"

using namespace heddle;

namespace {

std::optional<Schedule> solved(const Problem& problem) {
  solver::SolveRequest request;
  request.problem = problem;
  request.objectives = {};
  return solver::solve(request).schedule;
}

void check_period(const Problem& problem, const Schedule& schedule) {
  const Period expected = sustainable_period(problem, schedule);
  const Simulation run = simulate(problem, schedule, {.trips = 100'000});
  CHECK(run.fault == "");
  CHECK(run.period.exact);
  if (run.unordered == 0) CHECK(run.period.weight * expected.tokens == expected.weight * run.period.tokens);
  CHECK(run.period.weight <= schedule.ii * run.period.tokens);
}

}  // namespace

TEST_CASE("every shipped kernel's solved schedule runs at the sustainable period, and its kernel no faster than that", "[property]") {
  int ran = 0;
  for (const char* kernel :
       {"attention_backward_blackwell", "attention_backward_hopper", "attention_forward_blackwell", "attention_forward_hopper",
        "attention_forward_tile_blackwell", "attention_forward_tile_hopper", "gemm_blackwell", "gemm_fp8_hopper", "gemm_hopper",
        "gemm_w4a16_hopper", "layernorm", "swiglu_dual_gemm_hopper", "toy_fig1"})
    for (const char* machine : {"h100", "h200", "b200", "toy"}) {
      CAPTURE(kernel, machine);
      const auto k = load_kernel(test::repository_path("kernels/" + std::string(kernel) + ".json"));
      const auto m = load_machine(test::repository_path("assets/machines/" + std::string(machine) + ".json"));
      REQUIRE(k);
      REQUIRE(m);
      const auto problem = resolve(*k, *m, {});
      if (!problem) continue;
      const auto schedule = solved(*problem);
      if (!schedule) continue;
      ++ran;
      check_period(*problem, *schedule);
      // The other engine, one tile of the loop alone, long enough to be steady.
      SimulateOptions options;
      const SmRun events = run_sm(loop_program(*problem, *schedule, SimulateOptions{}), {{{2000}}, 1, false}, options);
      CHECK(events.run.fault == "");
      CHECK(events.run.period.cycles() == Approx(simulate(*problem, *schedule).period.cycles()).epsilon(0.001));
      for (const bool persistent : {false, true}) {
        KernelRunOptions whole;
        whole.persistent = persistent;
        const KernelRun run = run_kernel(Instance(spec_of(*k, *m), *problem), *schedule, whole);
        CHECK(run.fault == "");
        CHECK(run.of_peak <= 1);
      }
    }
  CHECK(ran >= 15);
}

TEST_CASE("solved random problems run at the sustainable period", "[property]") {
  int ran = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Problem problem = test::random_problem(seed, {.max_ops = 7});
    const auto schedule = solved(problem);
    if (!schedule) continue;
    REQUIRE(check(problem, *schedule).valid());
    ++ran;
    check_period(problem, *schedule);
  }
  CHECK(ran > 100);
}
