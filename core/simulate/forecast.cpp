#include "core/simulate/forecast.h"

namespace heddle {

KernelRunOptions comparison_run(const ClockChoice& clock) {
  KernelRunOptions options;
  options.clock = clock;
  options.loop.arbitration = Arbitration::Interleaved;
  options.loop.most_ops = 5'000'000;
  return options;
}

std::optional<Forecast> forecast(const Instance& instance, const Schedule& schedule, const std::stop_token& stop) {
  KernelRunOptions options = comparison_run();
  options.loop.stop = stop;
  const KernelRun run = run_kernel(instance, schedule, options);
  if (!run.fault.empty() || stop.stop_requested()) return std::nullopt;
  return Forecast{run.microseconds, run.cycles, run.sm.period.cycles(), run.tflops};
}

}  // namespace heddle
