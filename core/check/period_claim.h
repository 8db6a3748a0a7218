// What a certificate says of a program's period, held against the checker's own reading of the schedule, its own rule of motion, its own
// sums and its own count of programs.
#pragma once

#include <optional>
#include <string>

#include "core/problem/problem.h"
#include "core/schedule/period_proof.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// Why it is worth nothing, as a sentence that goes on from "the certificate ...". Of "least of all programs" it is checked that all
/// programs are the same ones (numbers and digest), in up to some seconds, and not that none of them is shorter: least_by_rule() does.
/// Pre: the schedule's sizes fit the problem.
std::optional<std::string> why_period_is_void(const Problem& problem, const Schedule& schedule, const PeriodProof& proof);

}  // namespace heddle
