// Schedules as good as the best that differ in what matters: put to the solver, and told.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "app/ask/ending.h"
#include "core/answers/alternatives.h"

namespace heddle::app {

struct AlternativesOptions {
  int count = 10;  ///< after so many, the first included, it ends
  Aspect aspect = Aspect::Any;
  bool ii_only = false;       ///< equal II is enough
  std::optional<Cycle> ii{};  ///< of exactly this one
  bool operator==(const AlternativesOptions&) const = default;
};

Alternatives ask_alternatives(const Subject& subject, const AlternativesOptions& options, std::stop_token stop,
                              const Listener<Alternatives>& listener);
Ended ended(const Alternatives& answer);
std::string told(const Subject& subject, const Alternatives& answer, const Telling& how);

}  // namespace heddle::app
