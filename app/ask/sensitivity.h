// Which numbers matter when they are wrong: put to the solver, and told.
#pragma once

#include <stop_token>
#include <string>

#include "app/ask/ending.h"
#include "core/answers/sensitivity.h"

namespace heddle::app {

struct SensitivityOptions {
  int percent = 10;  ///< how far each number is taken off, both ways
  bool operator==(const SensitivityOptions&) const = default;
};

Sensitivity ask_sensitivity(const Subject& subject, const SensitivityOptions& options, std::stop_token stop,
                            const Listener<Sensitivity>& listener);
Ended ended(const Sensitivity& answer);
std::string told(const Subject& subject, const Sensitivity& answer, const Telling& how);

}  // namespace heddle::app
