// The answer about one op's latency in words and a table.
#pragma once

#include <string>

#include "core/answers/latency.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"

namespace heddle {

/// "valid for latencies 0 to 893 · II 2048 up to latency 893 · ...": one line.
std::string latency_headline(const LatencyRange& answer, const TextStyle& style);

std::string latency_summary(const Problem& problem, const LatencyRange& answer, const TextStyle& style);

}  // namespace heddle
