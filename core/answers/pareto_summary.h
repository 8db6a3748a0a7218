// A front in words, as a table, and as a small picture.
#pragma once

#include <string>

#include "core/answers/pareto.h"
#include "core/base/text_style.h"

namespace heddle {

/// "front of II against warps: 4 points, complete and proved".
std::string pareto_headline(const Pareto& front);

/// One point: "II 1024 with 131072 bytes of shared memory, proved".
std::string point_sentence(const Pareto& front, const ParetoStep& step);

/// Headline, table of points, where and why the front ends, and a staircase when there is one resource.
std::string pareto_summary(const Problem& problem, const Pareto& front, const TextStyle& style);

/// II over the resource: what the least II is with that much of it. Empty for fewer than two points or several resources.
std::string staircase(const Pareto& front, const TextStyle& style);

}  // namespace heddle
