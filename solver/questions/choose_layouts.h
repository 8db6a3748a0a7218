// The best layouts, instructions and schedule together, by branch and bound over sets of combinations.
//
// A set of combinations (of each decision some candidates) is one problem with every number at its least (easiest() in
// core/instance/layout_decisions.h). What is refuted of that problem is refuted of each combination in the set, with all that the search
// has: arithmetic, relaxations, the encoder. A schedule of it that also is one of some combination is as good as that set can be; otherwise
// the set is split at the decision that is in the way. One combination is a problem like any other.
//
// Most sets need no split: their unit loads decide. Nothing is added to the encoder, the relaxations and the checker, so what is proved
// here rests on what is cross-checked everywhere else, and a question without open layouts is asked as before.
#pragma once

#include <functional>
#include <stop_token>

#include "core/answers/chosen_layouts.h"
#include "core/base/result.h"
#include "solver/search/solve.h"

namespace heddle::solver {

/// The question's problem with other choices. Never fails for candidates of the question.
using ResolveWith = std::function<Result<Problem>(const LayoutChoices&)>;

/// Layouts left open in a question that solves more than once.
struct LayoutsLeftOpen {
  LayoutChoices said;  ///< not open while they are demanded
  /// The question with these choices said instead of `said`.
  std::function<Result<OpenLayouts>(const LayoutChoices&)> open;
  ResolveWith resolve;
};

/// Every number at its least over all candidates: what is refuted of it is refuted of all of them.
Problem easiest_of_all(const OpenLayouts& question);

/// The request's problem is ignored, and its incumbent and cutoff. `ii`: decided for exactly that II. The objectives are those of the
/// combination that was chosen. The listener hears of the combination that is solved, and a line for each set.
ChosenLayouts choose_layouts(OpenLayouts question, const ResolveWith& resolve, SolveRequest request, std::stop_token stop = {},
                             const SolveListener& listener = {});

}  // namespace heddle::solver
