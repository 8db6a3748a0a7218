// Two schedules beside each other as JSON: what `heddle diff --json` prints. Written only.
#pragma once

#include "core/answers/difference_rows.h"
#include "core/base/json.h"

namespace heddle {

Json difference_json(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b, const Difference& difference,
                     const Alignment& alignment);

}  // namespace heddle
