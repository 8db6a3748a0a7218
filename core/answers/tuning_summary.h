// A tuning history in words.
#pragma once

#include <string>

#include "core/base/text_style.h"
#include "core/records/tuning.h"

namespace heddle {

/// "TILE_N=256 stages=4: 2162688 cycles, proved best of the space", or why there is nothing.
std::string tuning_headline(const TuneHistory& history, const TextStyle& style);

/// One evaluation without its label: "2162688 cycles · II 1024 · proved".
std::string evaluation_facts(const TuneEvaluation& evaluation, TuneObjective objective, const TextStyle& style);

/// What was searched, the best, what is proved, the best evaluations as a table, how the best value fell, and what failed and why.
std::string tuning_summary(const TuneHistory& history, const TextStyle& style);

}  // namespace heddle
