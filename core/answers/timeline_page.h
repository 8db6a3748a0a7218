// A schedule on a page of text: what it is, its timeline, its ops.
#pragma once

#include <string>

#include "core/base/text_style.h"
#include "core/chart/gantt_model.h"

namespace heddle {

/// Title with II and status, timeline, op table. The model must be of this problem and schedule.
std::string timeline_page(const Problem& problem, const Schedule& schedule, const GanttModel& model, const TextStyle& style);

}  // namespace heddle
