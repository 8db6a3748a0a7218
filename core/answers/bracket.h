// What is said of the bracket of the expected period where latencies are not always the same, and of period against shared memory.
#pragma once

#include <string>

#include "core/analysis/bracket.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/spread_study.h"

namespace heddle {

/// Why nothing is claimed of the period where units do not keep the schedule's order.
inline constexpr const char* kNoBracket =
    "no bracket of the expected period: units serve whoever comes first here, and then a shorter latency can make a loop slower";

/// "load_k, load_v 270:80%,700:18%,1400:2%, scheduled for 270": ops of one list are named together.
std::string spreads_text(const Problem& problem);

/// The two ends, each with what proves it, in lines of at most `width` columns. Pre: latencies_vary(problem).
std::string bracket_text(const Problem& problem, const PeriodBracket& bracket, int width);
/// Both ends as {"cycles", "iterations", "per_iteration"}, the latencies and what of them counts in full; "missing" says why there is none.
Json bracket_json(const Problem& problem, const PeriodBracket& bracket);
Json bracket_schema(Json& definitions);

std::string spread_summary(const Problem& problem, const Schedule& schedule, const SpreadStudy& study, const StudyOptions& options,
                           const TextStyle& style);
/// "K 4, V 2"
std::string depths_text(const Problem& problem, const SpreadStudy& study, const SpreadRow& row);
std::string spread_csv(const Problem& problem, const SpreadStudy& study, const StudyOptions& options);
/// {"study": "depth"} of heddle.simulation/1 where latencies are not always the same.
Json spread_json(const Problem& problem, const Schedule& schedule, const SpreadStudy& study, const StudyOptions& options);
Json spread_schema(Json& definitions);

}  // namespace heddle
