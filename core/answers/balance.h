// The answer of `heddle simulate --study balance`: a table of ways to hand out tiles, and the SMs of each as lanes.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/balance_study.h"

namespace heddle {

/// A line per way, with how many SMs are busy over time below it.
std::string balance_summary(const BalanceStudy& study, const TextStyle& style);
std::string balance_csv(const BalanceStudy& study);
/// {"study": "balance", "rows": [...]}
Json balance_json(const Problem& problem, const Schedule& schedule, const BalanceStudy& study);
Json balance_schema(Json& definitions);
/// A panel per way: a lane per place, a box per tile, darker where it is longer. All panels have the same scale of time.
std::string balance_svg(const BalanceStudy& study, const std::string& title);

}  // namespace heddle
