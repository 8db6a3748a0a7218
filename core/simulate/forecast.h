// What a schedule is predicted to take as a whole kernel: the one number by which orders are compared, wherever they are.
#pragma once

#include <optional>
#include <stop_token>

#include "core/simulate/contended_run.h"
#include "core/simulate/kernel_run.h"

namespace heddle {

/// The period of the rule of motion (core/motion/motion.h), in cycles an iteration; nothing where it does not decide (chooses_by_period()),
/// for CTAs that share an SM, of which the rule knows nothing, and for a schedule that the rule cannot run.
std::optional<double> deciding_period(const Problem& problem, const Schedule& schedule, const std::stop_token& stop = {});

/// How orders are run to be compared: as hardware runs them. Beyond some million ops a run is extrapolated, because a dozen orders share
/// the time that one simulation may take.
KernelRunOptions comparison_run(const ClockChoice& clock = {});

/// A prediction, at the machine's default clock.
struct Forecast {
  double microseconds = 0;
  Cycle cycles = 0;      ///< of the whole kernel
  double period = 0;     ///< cycles per iteration of the loop: the deciding one where there is one, else the simulated
  double tflops = 0;     ///< 0 where the loop has no multiply-adds
  bool decides = false;  ///< `period` comes before the time
};
/// By the deciding period, then by time. One that has none is slower than one that has: the rule cannot run it.
bool faster(const Forecast& a, const Forecast& b);

/// Nothing where the simulator has no numbers (a deadlock, a graph of plain numbers), or when stopped. Pre: as run_kernel().
std::optional<Forecast> forecast(const Instance& instance, const Schedule& schedule, const std::stop_token& stop = {});

}  // namespace heddle
