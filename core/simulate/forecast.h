// What a schedule is predicted to take as a whole kernel: the one number by which orders are compared, wherever they are.
#pragma once

#include <optional>
#include <stop_token>

#include "core/simulate/kernel_run.h"

namespace heddle {

/// Whether the period of the rule of motion (core/motion/motion.h) is what is predicted of a problem's schedules, and so what decides
/// between them: where the machine says how many mmas are in flight (of Blackwell nobody has measured it). Nothing else says so.
bool chooses_by_period(const Problem& problem);

/// What every prediction of a whole kernel runs a schedule with, unless it is told otherwise: Contended where the period decides;
/// Interleaved where it does not, and for CTAs that share an SM, of which the rule knows nothing. `ctas`: instead of as many as fit.
Arbitration arbitration_to_predict(const Problem& problem, const Schedule& schedule, std::optional<int> ctas = {});

/// How orders are run to be compared. Beyond some million ops a run is extrapolated, because a dozen orders share the time that one
/// simulation may take.
KernelRunOptions comparison_run(const Problem& problem, const Schedule& schedule, const ClockChoice& clock = {});

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
