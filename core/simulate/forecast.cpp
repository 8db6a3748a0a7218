#include "core/simulate/forecast.h"

#include <algorithm>
#include <tuple>

#include "core/motion/motion.h"

namespace heddle {

std::optional<double> deciding_period(const Problem& problem, const Schedule& schedule, const std::stop_token& stop) {
  if (!chooses_by_period(problem) || occupancy_of(problem, schedule).ctas != 1) return std::nullopt;
  const motion::Motion motion = motion::motion_of(problem, schedule, {.stop = stop});
  if (motion.stuck || motion.period.iterations == 0) return std::nullopt;
  return motion.period.cycles();
}

bool faster(const Forecast& a, const Forecast& b) {
  if (a.decides != b.decides) return a.decides;
  return std::tuple(a.decides ? a.period : 0, a.microseconds, a.cycles) < std::tuple(b.decides ? b.period : 0, b.microseconds, b.cycles);
}

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
  const std::optional<double> period = deciding_period(instance.problem(), schedule, stop);
  return Forecast{run.microseconds, run.cycles, period.value_or(run.sm.period.cycles()), run.tflops, period.has_value()};
}

}  // namespace heddle
