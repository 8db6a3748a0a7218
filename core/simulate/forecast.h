// What a schedule is predicted to take as a whole kernel: the one number by which orders are compared, wherever they are.
#pragma once

#include <optional>
#include <stop_token>

#include "core/simulate/kernel_run.h"

namespace heddle {

/// How orders are run to be compared: units of an SM serve the warp groups as hardware does. Beyond some million ops a run is extrapolated,
/// because a dozen orders share the time that one simulation may take.
KernelRunOptions comparison_run(const ClockChoice& clock = {});

/// A prediction, at the machine's default clock.
struct Forecast {
  double microseconds = 0;
  Cycle cycles = 0;   ///< of the whole kernel
  double period = 0;  ///< cycles per iteration of the loop
  double tflops = 0;  ///< 0 where the loop has no multiply-adds
};
/// Nothing where the simulator has no numbers (a deadlock, a graph of plain numbers), or when stopped. Pre: as run_kernel().
std::optional<Forecast> forecast(const Instance& instance, const Schedule& schedule, const std::stop_token& stop = {});

}  // namespace heddle
