// What a run has measured beside what its schedule predicts: rows of the history, residuals op by op, and the measured bars as
// ghosts on the rows of the chart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/jobs/run_job.h"
#include "app/session/document.h"
#include "app/viewmodel/compare_model.h"
#include "app/viewmodel/header_model.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {

/// A line of the history, as text.
struct RunRow {
  std::string date;  ///< "2026-11-21 14:02"
  std::string kernel, device, schedule, status;
  Tone tone = Tone::Neutral;
  std::string tflops, ratio, predicted, measured, residual;  ///< empty where there is none
};
RunRow run_row(const Measurement& measurement);

/// How a run and the shown schedule belong together.
struct RunFit {
  bool same_kernel = false;    ///< kernel and parameters
  bool same_schedule = false;  ///< measured of just this program of just this problem
  std::string sentence;        ///< "measured of what is shown", or what is different
};
RunFit run_fit(const Content& content, const Measurement& measurement);

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

/// "+3.5 %", "-0.2 %"
std::string percent_text(double share);

}  // namespace heddle::app
