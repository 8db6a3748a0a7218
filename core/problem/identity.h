// A problem spelled out: what names and keeps answers. problem_hash() (problem.h) digests the legal part of the same text.
#pragma once

#include <string>

#include "core/problem/problem.h"

namespace heddle {

/// Everything that an answer about the problem may depend on or mention: what decides which schedules are legal, then names,
/// parameters and changes. Two problems have one text only if they are the same.
std::string problem_text(const Problem& problem);

}  // namespace heddle
