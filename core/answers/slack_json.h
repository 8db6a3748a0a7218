// How far ops can move, as JSON. Written only.
#pragma once

#include "core/answers/slack.h"
#include "core/base/json.h"

namespace heddle {

/// {ii, anchor {op, start}, stages, absolute, legal, exact, complete, ops [{id, group, start, alone {earlier, later}, path
/// {earliest, latest}, earliest {seen, bound, proved}, latest {...}}], ...}; null where nothing holds an op or nothing was seen.
Json slack_json(const Problem& problem, const Schedule& schedule, const SlackRanges& ranges);

}  // namespace heddle
