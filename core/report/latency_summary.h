// The answer about one op's latency in words and a table.
#pragma once

#include <string>

#include "core/answer/latency_range.h"
#include "core/problem/problem.h"
#include "core/report/text_style.h"

namespace heddle {

/// "valid for latencies 0 to 893 · II 2048 up to latency 893 · ...": one line.
std::string latency_headline(const LatencyRange& answer, const TextStyle& style);

std::string latency_summary(const Problem& problem, const LatencyRange& answer, const TextStyle& style);

}  // namespace heddle
