// The lexicographic objectives after II: on one live, unanchored model at the proven II, each objective is pushed to its
// optimum with assumptions, then fixed for the ones that follow. (For the number of stages of four attention kernels Z3's own optimizer
// took 3 to 8 times as long.)
#pragma once

#include <functional>
#include <vector>

#include "solver/search/decide.h"
#include "solver/search/solve.h"

namespace heddle::solver {

const char* to_string(Objective objective);

/// What a schedule is worth under an objective: stages, warps, bytes, columns, or the largest register budget.
std::int64_t objective_value(const Problem& problem, const Schedule& schedule, Objective objective);

/// A literal that, when assumed, keeps the objective at or below `bound`. For Registers pass the bound to LiveModel::check too.
Lit objective_at_most(LiveModel& live, Objective objective, std::int64_t bound);

/// Which objectives, who is told of them, and what is known from elsewhere. Each function may be missing.
struct ObjectiveSearch {
  std::vector<Objective> order{};
  std::function<void(const Schedule&)> improved{};  ///< of every better schedule
  std::function<void(const ObjectiveValue&)> settled{};
  std::vector<std::int64_t> floor{};  ///< lexicographically no schedule is below these values of the first objectives
  /// May know that no schedule has these values of the objectives so far, or smaller ones.
  std::function<bool(const std::vector<std::int64_t>&)> refuted{};
};

/// Improves `best` in place. Objectives not reached in time keep their value, marked not proved. Throws Stopped only from formula building.
std::vector<ObjectiveValue> optimize_objectives(LiveModel& live, const ObjectiveSearch& search, Schedule& best);

}  // namespace heddle::solver
