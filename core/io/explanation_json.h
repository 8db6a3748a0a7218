// The answer to "why is II not smaller?" as JSON.
#pragma once

#include "core/answer/explanation.h"
#include "core/io/json.h"
#include "core/problem/problem.h"

namespace heddle {

Json explanation_json(const Problem& problem, const Explanation& explanation);

}  // namespace heddle
