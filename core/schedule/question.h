// The question that a proof answers: a problem, and what the user demands of its schedules.
#pragma once

#include <string>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"

namespace heddle {

/// Every demand in force, spelled out; empty when there is none. Two lists have one text only if they demand the same.
std::string demands_text(const Constraints& constraints);

/// problem_hash() where nothing is demanded, else a digest of the problem and the demands.
std::string question_hash(const Problem& problem, const Constraints& constraints);

}  // namespace heddle
