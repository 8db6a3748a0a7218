// sim-bench: simulated ops per second on one core, per kernel and engine. Run by hand:
//   sim-bench [SECONDS]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/simulate/simulate.h"
#include "solver/search/solve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

constexpr const char* kCases[][2] = {{"attention_forward_hopper", "h100"},
                                     {"attention_backward_hopper", "h100"},
                                     {"gemm_hopper", "h100"},
                                     {"attention_forward_blackwell", "b200"},
                                     {"attention_backward_blackwell", "b200"}};

struct Rate {
  double ops_per_second = 0, period = 0;
};

Rate measure(const Problem& problem, const Schedule& schedule, Arbitration arbitration, int percent, double seconds) {
  SimulateOptions options;
  options.arbitration = arbitration;
  options.jitter.percent = percent;
  options.trips = 20'000;
  Rate rate;
  const auto begin = std::chrono::steady_clock::now();
  double spent = 0;
  std::int64_t ops = 0;
  while (spent < seconds) {
    const Simulation run = simulate(problem, schedule, options);
    rate.period = run.period.cycles();
    ops += run.simulated_ops;
    spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  rate.ops_per_second = static_cast<double>(ops) / spent;
  return rate;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::max(0.05, std::atof(argv[1])) : 1.0;
  fmt::print("{:<30} {:>6} {:>4} {:<11} {:>7} {:>14} {:>10}\n", "kernel", "II", "ops", "arbitration", "jitter", "ops per second", "period");
  for (const auto& [kernel_name, machine_name] : kCases) {
    const auto kernel = load_kernel(test::repository_path(fmt::format("kernels/{}.json", kernel_name)));
    const auto machine = load_machine(test::repository_path(fmt::format("assets/machines/{}.json", machine_name)));
    if (!kernel || !machine) return 1;
    solver::SolveRequest request;
    request.problem = *resolve(*kernel, *machine);
    request.objectives = {};
    const SolveOutcome outcome = solver::solve(request);
    if (!outcome.schedule) continue;
    for (const Arbitration arbitration : {Arbitration::Scheduled, Arbitration::FirstCome})
      for (const int percent : {0, 20}) {
        if (percent == 0 && arbitration == Arbitration::Scheduled) continue;  // periods are skipped: nothing is left to measure
        const Rate rate = measure(request.problem, *outcome.schedule, arbitration, percent, seconds);
        fmt::print("{:<30} {:>6} {:>4} {:<11} {:>6}% {:>12.1f} M {:>10.1f}\n", kernel_name, outcome.schedule->ii,
                   request.problem.ops.size(), to_string(arbitration), percent, rate.ops_per_second / 1e6, rate.period);
      }
  }
  return 0;
}
