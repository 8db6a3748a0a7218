// What a certificate says of a period.
#pragma once

#include <string>

#include "core/schedule/period_proof.h"
#include "solver/programs/least_program.h"

namespace heddle::programs {

/// "period 2405 cycles in the machine's model with contention: the least of all 75 082 programs of 2 groups that keep the dependences in 3
/// stages, the fewest of their order, and fit 240 registers; no program at all is below 2321. II 2048 where nothing contends." Never more
/// than was proved.
std::string period_sentence(const Problem& problem, const LeastProgram& answer, const Rules& rules);

/// What is known of `period` after a search among these programs: "least of all" only for the period of the least one. Without its
/// `numbers`.
PeriodProof period_proof(const Problem& problem, const LeastProgram& answer, const Rules& rules, const motion::MotionPeriod& period);

}  // namespace heddle::programs
