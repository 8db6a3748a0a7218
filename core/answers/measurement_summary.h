// A measurement in words and tables.
#pragma once

#include <string>

#include "core/base/text_style.h"
#include "core/records/measurement.h"

namespace heddle {

/// "verified · 742.9 TFLOP/s · 0.98 of cuBLAS 13.1.0 · 1043 cycles per iteration, 1.9 % above the prediction"
std::string measurement_headline(const Measurement& measurement, const TextStyle& style);

/// Device, verdict, times, and with a profile a line per op.
std::string measurement_summary(const Measurement& measurement, const TextStyle& style);

}  // namespace heddle
