// The answer to "why is II not smaller?" as JSON.
#pragma once

#include "core/answers/explanation.h"
#include "core/base/json.h"
#include "core/problem/problem.h"

namespace heddle {

Json explanation_json(const Problem& problem, const Explanation& explanation);

}  // namespace heddle
