// How far ops can move, in words and a table.
#pragma once

#include <string>

#include "core/answer/slack_ranges.h"
#include "core/report/text_style.h"

namespace heddle {

std::string slack_summary(const Problem& problem, const Schedule& schedule, const SlackRanges& ranges, const TextStyle& style);

}  // namespace heddle
