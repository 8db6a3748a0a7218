// The answer of `heddle simulate`: a schedule's loop and its whole kernel, run by the simulator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/bracket.h"
#include "core/analysis/period.h"
#include "core/answers/traffic.h"
#include "core/answers/validation.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/balance_study.h"
#include "core/simulate/kernel_run.h"
#include "core/simulate/robustness_study.h"
#include "core/simulate/simulate.h"
#include "core/simulate/spread_study.h"
#include "core/simulate/time_parts.h"

namespace heddle {

/// A schedule's loop in steady state beside the event graph's word on it, and its kernel.
struct SimulationAnswer {
  Period sustainable;
  Simulation loop;  ///< long enough for a steady state, whatever the kernel's trips
  /// The same loop where units serve first come, first served, as they do where no barrier holds anybody back; nothing when the
  /// options ask for that anyway.
  std::optional<Simulation> first_come;
  /// Of the loop's expected period; nothing where all latencies are constant or the options ask for units that serve first come.
  std::optional<PeriodBracket> bracket;
  /// Where somebody wants to see it too: period against shared memory, of such latencies.
  std::optional<SpreadStudy> depths;
  KernelRun kernel;
  KernelRunOptions options;
  std::optional<BalanceStudy> balance;  ///< the window's, where tiles have different lengths
  std::vector<TimePart> parts;          ///< what the kernel's time is made of
  Trust trust;                          ///< how far predictions of this kind can be trusted
  std::optional<Traffic> traffic;       ///< rings as queues, where that was asked for
};

SimulationAnswer simulate_kernel(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options);

/// "period 2048 cycles, exact · II 2048 · sustainable 2048"
std::string period_headline(const Schedule& schedule, const SimulationAnswer& answer, const TextStyle& style);

/// "674 us", "12.3 us", "4.02 ms"
std::string time_text(double microseconds);
/// "561 TFLOP/s", of a kernel without products "2 310 GB/s"; "" where neither is known.
std::string speed_text(const KernelRun& run);

/// "1 234 567 cycles · 674.6 us at 1568 MHz sustained at 700 W, tensor cores busy 91 % · 561.2 TFLOP/s · 57 % of peak"
std::string kernel_headline(const KernelRun& run, const TextStyle& style);

std::string simulation_summary(const Machine& machine, const Problem& problem, const Schedule& schedule, const SimulationAnswer& answer,
                               const TextStyle& style);

/// One line per part: its time, its share, and the speed that would be left if nothing after it were there.
std::string time_parts_table(const std::vector<TimePart>& parts, const KernelRun& run);

/// Where the time went, one line per op of loop, prologue and epilogue (RFC 4180).
std::string simulation_csv(const SimulationAnswer& answer);

// Studies of a schedule's robustness as tables.

std::string jitter_summary(const Schedule& schedule, const std::vector<JitterPoint>& points, const StudyOptions& options);
/// Numbers without any effect are counted, not listed.
std::string number_summary(const Schedule& schedule, const NumberStudy& study);
std::string depth_summary(const Problem& problem, const Schedule& schedule, const DepthStudy& study, const StudyOptions& options);

std::string jitter_csv(const std::vector<JitterPoint>& points);
std::string number_csv(const NumberStudy& study);
std::string depth_csv(const DepthStudy& study);

// Simulations and studies as JSON (heddle.simulation/1). Written only.

inline constexpr const char* kSimulationSchema = "heddle.simulation/1";
/// Of any of them, balance_json() and spread_json() included.
Json simulation_schema();
/// Period and kernel, then groups, ops and waits of the busiest SM's first CTA; all times in cycles.
Json simulation_json(const Machine& machine, const Problem& problem, const Schedule& schedule, const SimulationAnswer& answer);

/// {"study": "jitter" | "numbers" | "depth", "ii", "rows": [...]}
Json jitter_json(const Problem& problem, const Schedule& schedule, const std::vector<JitterPoint>& points, const StudyOptions& options);
Json number_json(const Problem& problem, const Schedule& schedule, const NumberStudy& study);
Json depth_json(const Problem& problem, const Schedule& schedule, const DepthStudy& study, const StudyOptions& options);

}  // namespace heddle
