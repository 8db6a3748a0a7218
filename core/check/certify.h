// Certificates: what a search by this process has proved, written onto a schedule.
#pragma once

#include <optional>
#include <string>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/outcome.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// Gives the outcome's schedule its certificate. Pre: there is a schedule, and the checker accepted it.
void certify(const Problem& problem, const Constraints& constraints, SolveOutcome& outcome);

/// Adds to the schedule's certificate what a search has found of its period, if the checker's own rule and sums bear it out
/// (core/check/period_claim.h); else says what they do not. Pre: there is a certificate.
std::optional<std::string> certify_period(const Problem& problem, PeriodProof proof, Schedule& schedule);

/// Gives any schedule for the same question the certificate that the outcome's bound makes possible: II, and the objectives before the
/// first on which it differs from the outcome's schedule. What a file claimed about it goes. Pre: the checker accepted the schedule.
void take_proof(const Problem& problem, const Constraints& constraints, const SolveOutcome& outcome, Schedule& schedule);

}  // namespace heddle
