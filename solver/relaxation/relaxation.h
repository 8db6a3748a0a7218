// Decides "dependences and units at one II" with an engine of our own, no Z3. No is a proof for the whole problem and for
// any number of stages; Yes says nothing about the other families, but its starts are a good guess.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "solver/backend.h"

namespace heddle::solver {

struct RelaxationAnswer {
  Answer answer = Answer::Unknown;
  /// After Yes, in op order, the least >= 0: meets all dependences and unit capacities where at most one use fits at a time.
  std::vector<Cycle> starts;
  std::int64_t conflicts = 0;
  std::uint64_t effort_left = 0;
};

/// Effort units that take about a second at 50 ops.
inline constexpr std::uint64_t kRelaxationEffortPerSecond = 300'000;

/// Unknown: out of effort, stopped, past the deadline, or numbers too large for the engine. Repeatable but for the limits.
RelaxationAnswer decide_relaxation(const Problem& problem, const Constraints& constraints, Cycle ii, std::uint64_t effort,
                                   const SearchLimits& limits);

struct RelaxationBound {
  Cycle bound = 0;                      ///< every II below, from `from` on, is refuted; at `from`, nothing is
  /// The least II at which the relaxation is known to be feasible: there and above it has nothing to say.
  std::optional<Cycle> feasible;
  std::int64_t conflicts = 0;
};

/// How far the relaxation raises a lower bound `from`, by doubling steps and bisection; `effort` for each II. Pre: a schedule
/// for II is one for II + 1 (monotone_in_ii of problem and constraints).
RelaxationBound relaxation_bound(const Problem& problem, const Constraints& constraints, Cycle from, std::uint64_t effort,
                                 const SearchLimits& limits);

}  // namespace heddle::solver
