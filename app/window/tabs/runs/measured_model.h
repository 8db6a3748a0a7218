// What a run has measured beside what its schedule predicts: residuals op by op, and the measured bars as ghosts on the rows of the
// chart.
#pragma once

#include <string>
#include <vector>

#include "app/session/run_state.h"
#include "app/window/chart/compare_model.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {

/// One op of the profile.
struct ResidualRow {
  OpId op;  ///< of the shown problem; invalid: it has none of this name
  std::string name, group;
  double predicted_start = 0, start = 0, predicted_duration = 0, duration = 0, spread = 0;
  bool observed_end = true;
  std::int64_t samples = 0;
  double start_residual() const { return start - predicted_start; }
  double duration_residual() const { return duration - predicted_duration; }
  /// So far off that it is worth a look: 5 % of what was predicted, and 8 cycles.
  bool off() const;
};
/// The worst misprediction first.
std::vector<ResidualRow> residual_rows(const Problem& problem, const KernelProfile& profile);

/// Where the ops of the profile were, on the rows of the chart: begin and duration as measured, iteration after iteration by the measured
/// II. Empty without a profile.
std::vector<OtherBar> measured_bars(const Problem& problem, const GanttModel& chart, const Measurement& measurement);

/// "Measured: 2026-11-21 14:02 on NVIDIA H200 · II 1 060 (+3.5 %)"
std::string measured_legend(const Content& content, const Measurement& measurement);

}  // namespace heddle::app
