// What becomes of a claim that a file makes about its schedule: thrown away when something free contradicts it, kept as what the file
// says otherwise.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// Takes the claim away, with a warning that names `file`, when core/check/claim.h or the solver's free attempts refute it. Takes
/// milliseconds, half a second at most. Pre: the schedule's sizes fit the problem.
void judge_claim(const Problem& problem, const Constraints& constraints, Schedule& schedule, const std::string& file,
                 std::vector<Fault>* warnings);

}  // namespace heddle::app
