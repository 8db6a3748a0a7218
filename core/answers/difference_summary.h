// Two schedules beside each other, as text.
#pragma once

#include <string>

#include "core/answers/difference_rows.h"
#include "core/base/text_style.h"

namespace heddle {

/// One line: the relation, and where the programs part.
std::string difference_headline(const Difference& difference, const ComparedSchedule& a, const ComparedSchedule& b, const TextStyle& style);

/// Headline, both standings with what limits them, numbers side by side, and the ops that differ (`all`: every op).
std::string difference_summary(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b, const Difference& difference,
                               const Alignment& alignment, bool all, const TextStyle& style);

}  // namespace heddle
