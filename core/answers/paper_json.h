// Paper mode's answer as JSON: what `heddle paper --json` prints. Written only.
#pragma once

#include <vector>

#include "core/answers/paper.h"
#include "core/base/json.h"
#include "core/problem/problem.h"

namespace heddle {

/// Everything about one run. The retimed schedule is judged afresh (`worth.checker`).
Json paper_json(const Problem& problem, const PaperAnswer& answer);

/// [{name, value, default, values | low, high, about}]
Json paper_settings_json(const std::vector<PaperSetting>& settings);

}  // namespace heddle
