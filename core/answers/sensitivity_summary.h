// The answer about wrong numbers in words and a table.
#pragma once

#include <string>

#include "core/answers/sensitivity.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"

namespace heddle {

/// "6 numbers change II · 2 only the order · 31 neither ...": one line.
std::string sensitivity_headline(const Sensitivity& answer, const TextStyle& style);

/// With `all`, numbers without any effect have rows too.
std::string sensitivity_summary(const Problem& problem, const Sensitivity& answer, bool all, const TextStyle& style);

}  // namespace heddle
