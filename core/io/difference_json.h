// Two schedules beside each other as JSON: what `heddle diff --json` prints. Written only.
#pragma once

#include "core/io/json.h"
#include "core/report/difference_rows.h"

namespace heddle {

Json difference_json(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b, const Difference& difference,
                     const Alignment& alignment);

}  // namespace heddle
