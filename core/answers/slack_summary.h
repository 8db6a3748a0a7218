// How far ops can move, in words and a table.
#pragma once

#include <string>

#include "core/answers/slack.h"
#include "core/base/text_style.h"

namespace heddle {

std::string slack_summary(const Problem& problem, const Schedule& schedule, const SlackRanges& ranges, const TextStyle& style);

}  // namespace heddle
