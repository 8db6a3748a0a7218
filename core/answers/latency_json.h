// The answer about one op's latency as JSON: what `heddle latency` prints with --json. Written only.
#pragma once

#include "core/answers/latency.h"
#include "core/base/json.h"
#include "core/problem/problem.h"

namespace heddle {

/// Staircases are one member of "steps" each: II(latency) = ii + rise * floor((latency - from) / every). Ends that do not
/// exist, and numbers that are not known, are null.
Json latency_json(const Problem& problem, const LatencyRange& answer);

}  // namespace heddle
