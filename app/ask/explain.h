// Why II is not smaller, or why there is no schedule, and what would help: put to the solver, and told.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "app/ask/ending.h"
#include "core/answers/explanation.h"

namespace heddle::app {

struct ExplainOptions {
  std::optional<Cycle> ii{};              ///< why exactly this one has no schedule
  std::optional<double> relax_seconds{};  ///< at most so long for what giving way would buy; 0: that is left out
  bool operator==(const ExplainOptions&) const = default;
};

Explanation ask_explain(const Subject& subject, const ExplainOptions& options, std::stop_token stop, const Listener<Explanation>& listener);
Ended ended(const Explanation& explanation);
std::string told(const Subject& subject, const Explanation& explanation, const Telling& how);

}  // namespace heddle::app
