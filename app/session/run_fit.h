// How a measured run and the shown schedule belong together, and the run as a line of text.
#pragma once

#include <string>

#include "app/session/document.h"
#include "app/session/tone.h"
#include "core/records/measurement.h"

namespace heddle::app {

struct RunFit {
  bool same_kernel = false;    ///< kernel and parameters
  bool same_schedule = false;  ///< measured of just this program of just this problem
  std::string sentence;        ///< "measured of what is shown", or what is different
};
RunFit run_fit(const Content& content, const Measurement& measurement);

/// A line of the history.
struct RunRow {
  std::string date;  ///< "2026-11-21 14:02"
  std::string kernel, device, schedule, status;
  Tone tone = Tone::Neutral;
  std::string tflops, ratio, predicted, measured, residual;  ///< empty where there is none
  std::size_t index = 0;                                     ///< in the history that it stands in
};
RunRow run_row(const Measurement& measurement);

/// "+3.5 %", "-0.2 %"
std::string percent_text(double share);

/// To the next whole cycle, within what a chart can show.
Cycle whole_cycles(double cycles);

}  // namespace heddle::app
