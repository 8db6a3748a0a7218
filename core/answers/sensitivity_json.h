// The answer about wrong numbers as JSON: what `heddle sensitivity` prints with --json. Written only.
#pragma once

#include "core/answers/sensitivity.h"
#include "core/base/json.h"
#include "core/problem/problem.h"

namespace heddle {

/// "rows" holds every number, greatest effect first; what is not known is null.
Json sensitivity_json(const Problem& problem, const Sensitivity& answer);

}  // namespace heddle
