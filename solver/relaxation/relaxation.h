// Decides "dependences and units at one II" with an engine of our own, no Z3. No is a proof for the whole problem and for
// any number of stages; Yes says nothing about the other families, but its starts are a good guess.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "solver/relaxation/register_model.h"
#include "solver/z3/backend.h"

namespace heddle::solver {

/// Which families are kept: dependences and the unit with the greatest load, dependences and all units, or warp groups too
/// (issue windows, hand-offs).
enum class Relaxation { FullestUnit, Units, Groups };

struct RelaxationAnswer {
  Answer answer = Answer::Unknown;
  /// After Yes, in op order, the least >= 0: meets all dependences and unit capacities where at most one use fits at a time.
  std::vector<Cycle> starts;
  /// After Yes, in op order; empty where there is a choice and it was not asked for.
  std::vector<GroupId> groups;
  std::int64_t conflicts = 0;
  std::uint64_t effort_left = 0;
};

/// Effort units that take about a second at 50 ops.
inline constexpr std::uint64_t kRelaxationEffortPerSecond = 300'000;

/// What an answer may take.
struct Effort {
  std::uint64_t left = 0;
  QueryLimits limits{};
};

/// Unknown: out of effort, stopped, past the deadline, or numbers too large for the engine. Repeatable but for the limits.
RelaxationAnswer decide_relaxation(const Problem& problem, const Constraints& constraints, Cycle ii, Relaxation relaxation,
                                   const Effort& effort);

/// What is asked of a schedule beside its II.
struct WholeCaps {
  int stages = 0;  ///< all ops start within so many
  GroupRegisters registers;
};

/// With warp groups, and registers where they are counted. Rings have their greatest depths.
RelaxationAnswer decide_whole(const Problem& problem, const Constraints& constraints, Cycle ii, const WholeCaps& caps,
                              const Effort& effort);

struct RelaxationBound {
  Cycle bound = 0;  ///< every II below, from `from` on, is refuted; at `from`, nothing is
  /// The least II known to be feasible for the relaxation: there and above it has nothing to say.
  std::optional<Cycle> feasible;
  std::int64_t conflicts = 0;
};

/// What is feasible at an II; returns the least II to which it leads, at most that one.
using RelaxationFound = std::function<Cycle(const RelaxationAnswer&, Cycle ii)>;

/// Where a bound is looked for, and by what.
struct BoundSearch {
  Cycle from = 1;                ///< a lower bound
  std::optional<Cycle> below{};  ///< an II that is known to be feasible
  Relaxation relaxation = Relaxation::Units;
};

/// How far the relaxation raises the lower bound, by doubling steps and bisection; `effort` for each II. Where every II seems refuted the
/// bound stays where it was. Pre: a schedule for II is one for II + 1 (monotone_in_ii of problem and constraints).
RelaxationBound relaxation_bound(const Problem& problem, const Constraints& constraints, const BoundSearch& search, const Effort& effort,
                                 const RelaxationFound& found = {});

}  // namespace heddle::solver
