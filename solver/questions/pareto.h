// The front of II against resources (core/answers/pareto.h), step by step: the least II, the least resources at it, then the
// same again with one resource capped below what the point took.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "core/answers/pareto.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct ParetoRequest {
  SolveRequest solve;             ///< its II and objectives are not looked at; its time limit holds for everything together
  std::vector<Resource> against;  ///< at least one
  int max_ii_factor = 4;          ///< >= 1
  std::vector<ParetoStep> known;  ///< of an earlier run on the same problem, constraints and resources; its proofs are believed, and the
                                  ///< answer says so (from_file)
  std::string layouts_open, layouts;  ///< as in the answer
};

/// A cap as a demand.
UserConstraint at_most(std::int64_t amount, Resource resource);

/// Called with the front so far after every step that was asked of the solver.
using ParetoListener = std::function<void(const Pareto&)>;

/// A step may take half of the time left; one that stays unproved is marked, the search goes on from its schedule, and comes
/// back to it at the end.
Pareto find_pareto(const ParetoRequest& request, std::stop_token stop = {}, const ParetoListener& step_done = {},
                   const SolveListener& listener = {});

}  // namespace heddle::solver
