// The timeline for terminals, logs and tests, in the manner of llvm-mca: rows are group x unit, columns are cycles,
// bars carry a name or a letter, and a legend explains every mark used.
#pragma once

#include <string>

#include "core/base/text_style.h"
#include "core/chart/gantt_model.h"

namespace heddle {

/// Fits `style.width` columns (at least 40 are used): a cycle is several columns wide or a column several cycles. Bars
/// of older iterations have a lighter fill, pieces that wrap round the II have open ends.
std::string text_timeline(const GanttModel& model, const TextStyle& style);

}  // namespace heddle
