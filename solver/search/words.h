// Members of a core in words, for people who write kernels: which ops, which unit, how many cycles.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/bounds.h"
#include "core/analysis/shortage.h"
#include "core/answers/explanation.h"
#include "solver/search/core.h"

namespace heddle::solver {

/// The word for a family: "unit", "dependence", "hand-off" ...
const char* word_of(ConstraintFamily family);

/// Everything but `needed` and what goes wrong without it.
ExplanationMember describe_member(const Problem& problem, const Constraints& constraints, const Core& core, const CoreMember& member);
ExplanationMember describe_fact(const Problem& problem, const BoundFact& fact);
ExplanationMember describe_shortage(const Problem& problem, const Shortage& shortage);

/// "family: sentence" for each member.
std::vector<std::string> core_sentences(const Problem& problem, const Constraints& constraints, const Core& core);

/// The cycle of the core's dependences, hand-offs aside, and refills that leaves least room at `ii`; empty where there is room enough.
std::string tightest_cycle(const Problem& problem, const Core& core, Cycle ii);

/// The first `most` of them in one line.
std::string told(const std::vector<std::string>& sentences, std::size_t most);

}  // namespace heddle::solver
