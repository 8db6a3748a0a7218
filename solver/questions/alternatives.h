// Schedules as good as the best one that differ from it in what matters (core/analysis/signature.h). One live model at the
// optimal II, where every signature found is blocked by a clause; so a last refutation proves that there are no others.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "core/answers/alternatives.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct AlternativesRequest {
  SolveRequest solve;  ///< what is to be optimal; its time limit holds for everything together
  Aspect aspect = Aspect::Any;
  bool ii_only = false;                               ///< do not ask for equal stages, warps, memory and registers
  int count = 10;                                     ///< stop after this many, the first included
  std::shared_ptr<const UncertainNumbers> numbers{};  ///< rank them by how well they stand these; none: do not
  bool periods = false;                               ///< say the deciding period of each (core/simulate/forecast.h)
};

/// Each as soon as it is known; the first one is the optimum itself.
using AlternativeListener = std::function<void(const Alternative&)>;

/// Each of the first 20 is sought far from all before it: at half the greatest distance at first, and nearer where nothing is
/// found with limited effort. Those after them come as they are found. Same request and seed, same answer, unless a time limit was hit.
Alternatives find_alternatives(const AlternativesRequest& request, std::stop_token stop = {}, const AlternativeListener& found = {},
                               const SolveListener& listener = {});

}  // namespace heddle::solver
