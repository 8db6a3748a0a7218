// Demands on a schedule as sentences: "pin S at 128", "S and O in one group", "at most 3 stages". What describe() says,
// parse_constraint() reads.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"

namespace heddle {

/// Cycles, counts and bytes of a demand; also what files accept.
inline constexpr std::int64_t kLargestDemand = std::int64_t{1} << 40;

/// One sentence. Names that would be taken for words of the sentence are quoted.
std::string describe(const UserConstraint& constraint);

/// The inverse of describe(); the constraint is enabled and named by its description. Shorter forms are understood too:
///
///   S at 128 · S = 128                 pin                    S, P in group 2 · S not in group 2
///   S from 100 to 200 · 100 <= S <= 200 · S in 100..200       S, P together · S, P apart        groups
///   S before O · S before O by 64 · S + 64 <= O               S, P in the same stage
///   registers <= 240 · at most 160 KiB of shared memory · max stages 3 · depth of Kt <= 2
///
/// Faults name the word that was not understood, with a guess, or the op or channel that does not exist.
Result<UserConstraint> parse_constraint(std::string_view text, const Problem& problem);

}  // namespace heddle
