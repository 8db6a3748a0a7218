// The price of every user constraint, by warm re-solves of the same problem.
#pragma once

#include <functional>
#include <stop_token>

#include "core/answers/price.h"
#include "solver/questions/choose_layouts.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct PriceListener {
  SolveListener solve;                                   ///< of the solve that is running
  std::function<void(const std::string& doing)> asking;  ///< "without pin S at 128"
  std::function<void(const ConstraintPrice&)> priced;
};

/// The request's constraints are priced; its II, incumbent and cutoff are ignored, its time limit is for everything together. With
/// `layouts` every optimum is the least over all schedules and all that is open, and what is said of layouts is priced like a constraint.
Prices price_constraints(const SolveRequest& request, std::stop_token stop = {}, const PriceListener& listener = {},
                         const LayoutsLeftOpen* layouts = nullptr);

}  // namespace heddle::solver
