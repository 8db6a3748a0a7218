// A simulated kernel in words and tables.
#pragma once

#include <optional>
#include <string>

#include "core/analysis/period.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/kernel_run.h"
#include "core/simulate/simulate.h"

namespace heddle {

/// A schedule's loop in steady state beside the event graph's word on it, and its kernel.
struct SimulationAnswer {
  Period sustainable;
  Simulation loop;        ///< long enough for a steady state, whatever the kernel's trips
  /// The same loop where units serve first come, first served, as they do where no barrier holds anybody back; nothing when the
  /// options ask for that anyway.
  std::optional<Simulation> first_come;
  KernelRun kernel;
  KernelRunOptions options;
};

SimulationAnswer simulate_kernel(const Kernel& kernel, const Machine& machine, const Changes& changes, const Problem& problem,
                                 const Schedule& schedule, const KernelRunOptions& options);

/// "period 2048 cycles, exact · II 2048 · sustainable 2048"
std::string period_headline(const Schedule& schedule, const SimulationAnswer& answer, const TextStyle& style);

/// "1 234 567 cycles · 674.6 us at 1830 MHz · 561.2 TFLOP/s · 57 % of peak"
std::string kernel_headline(const Machine& machine, const KernelRun& run, const TextStyle& style);

std::string simulation_summary(const Machine& machine, const Problem& problem, const Schedule& schedule, const SimulationAnswer& answer,
                               const TextStyle& style);

/// Where the time went, one line per op of loop, prologue and epilogue (RFC 4180).
std::string simulation_csv(const SimulationAnswer& answer);

}  // namespace heddle
