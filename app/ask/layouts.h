// Which layouts, instructions and schedule are best together: put to the solver. Its answer is told with that of a solve.
#pragma once

#include <optional>
#include <stop_token>

#include "app/ask/ending.h"
#include "core/answers/chosen_layouts.h"
#include "core/base/result.h"

namespace heddle::app {

/// `ii`: decided for exactly this one. Faults: nothing of what the subject leaves open can be chosen.
Result<ChosenLayouts> ask_layouts(const Subject& subject, std::optional<Cycle> ii, std::stop_token stop,
                                  const Listener<ChosenLayouts>& listener);

}  // namespace heddle::app
