// What a file claims about its schedule ("optimal", "no II below 3072"), held against everything that costs no search. A claim that
// stands is still only a claim: nothing here proves it.
#pragma once

#include <optional>
#include <string>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// Why schedule.claim is worth nothing, as a sentence that goes on from "the certificate ...": it names no problem or another one, it
/// contradicts itself, its schedule or the checker, the same order of ops has a legal schedule below the claimed bound, or what it says of
/// the period is not what the checker finds (core/check/period_claim.h).
/// Nothing when none of this holds, or when there is no claim. Pre: the schedule's sizes fit the problem.
std::optional<std::string> why_claim_is_void(const Problem& problem, const Constraints& constraints, const Schedule& schedule);

}  // namespace heddle
