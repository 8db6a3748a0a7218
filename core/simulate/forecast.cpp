#include "core/simulate/forecast.h"

namespace heddle {

bool chooses_by_period(const Problem& problem) { return problem.contention.in_flight.value > 0; }

Arbitration arbitration_to_predict(const Problem& problem, const Schedule& schedule, std::optional<int> ctas) {
  const bool alone = ctas.value_or(occupancy_of(problem, schedule).ctas) == 1;
  return chooses_by_period(problem) && alone ? Arbitration::Contended : Arbitration::Interleaved;
}

KernelRunOptions comparison_run(const Problem& problem, const Schedule& schedule, const ClockChoice& clock) {
  KernelRunOptions options;
  options.clock = clock;
  options.loop.arbitration = arbitration_to_predict(problem, schedule);
  options.loop.most_ops = 5'000'000;
  return options;
}

std::optional<Forecast> forecast(const Instance& instance, const Schedule& schedule, const std::stop_token& stop) {
  KernelRunOptions options = comparison_run(instance.problem(), schedule);
  options.loop.stop = stop;
  const KernelRun run = run_kernel(instance, schedule, options);
  if (!run.fault.empty() || stop.stop_requested()) return std::nullopt;
  return Forecast{run.microseconds, run.cycles, run.sm.period.cycles(), run.tflops};
}

}  // namespace heddle
