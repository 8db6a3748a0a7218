// A measured timeline as Chrome trace JSON, for Perfetto and chrome://tracing, with the prediction as a second process beneath
// it. 1 cycle is 1 ns, as in core/chart/chrome_trace.h.
#pragma once

#include <string>

#include "core/records/measurement.h"

namespace heddle {

/// A thread per warp group, and one more where ops of a group overlap. The prediction repeats every `predicted_ii` cycles, from
/// the median starts and durations that the ops were predicted to have.
std::string measurement_trace(const Measurement& measurement);

}  // namespace heddle
