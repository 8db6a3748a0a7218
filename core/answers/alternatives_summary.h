// Alternatives in words.
#pragma once

#include <string>

#include "core/answers/alternatives.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"

namespace heddle {

/// "exactly 3 schedules", "at least 10 schedules; there are more", "at least 4 schedules; time is up".
std::string alternatives_headline(const Alternatives& answer);

/// Headline, one row per schedule, and for each what it does differently from the first.
std::string alternatives_summary(const Problem& problem, const Alternatives& answer, const TextStyle& style);

}  // namespace heddle
