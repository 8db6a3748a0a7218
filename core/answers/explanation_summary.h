// The answer to "why is II not smaller?" for people.
#pragma once

#include <string>

#include "core/answers/explanation.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"

namespace heddle {

/// "II 1664, proved", "at most II 1700", "no gain" ...
std::string relaxation_result(const Explanation& explanation, const Relaxation& relaxation);

/// What was shown about the reasons: "arithmetic, no search needed", "checked again from scratch: ...". Claims no more.
std::string explanation_standing(const Explanation& explanation);

/// The change was tried, and II stays: proved.
bool buys_nothing(const Explanation& explanation, const Relaxation& relaxation);

/// The sentence alone, on one line.
std::string explanation_headline(const Explanation& explanation);

std::string explanation_summary(const Problem& problem, const Explanation& explanation, const TextStyle& style);

}  // namespace heddle
