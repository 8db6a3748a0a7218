// The three changes under which the paper reports that the smallest I with a modulo schedule becomes unsatisfiable on
// Blackwell forward: fewer warps, no sub-tiling, no cross-warp communication.
#pragma once

#include "core/answers/paper.h"
#include "solver/paper/search.h"

namespace heddle::solver::paper {

enum class Ablation { FewerWarps, NoSubtiling, NoCrossWarp };
inline constexpr const char* kAblationNames[] = {"fewer-warps", "no-subtiling", "no-cross-warp"};

/// `native`: the graph before normalization; `answer`: what is known without the change. Never throws.
PaperAblation ablate(Ablation ablation, const PaperGraph& native, const Options& options, const PaperAnswer& answer, const SearchRun& run);

}  // namespace heddle::solver::paper
