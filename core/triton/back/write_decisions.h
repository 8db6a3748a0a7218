// Decisions about the ops of one loop, written into its text, and what changed in words.
#pragma once

#include <string>

#include "core/triton/read/decisions.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// The text with these decisions; what is as it was keeps its bytes. Attributes are written as Triton's own printer orders them.
/// Pre: `decisions` has an entry for every op of the body.
std::string write_decisions(const TritonProgram& program, const LoopSite& loop, const Decisions& decisions);

/// "stage 0 -> 1, cluster 4 -> 2"; empty where nothing changes.
std::string change_words(const Decision& before, const Decision& after);

}  // namespace heddle::triton
