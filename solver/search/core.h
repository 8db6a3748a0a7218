// A minimal set of constraints that contradict each other at one II. First in whole rules (one unit, all dependences, the
// refilling of rings), so that there is little to read; then, inside those rules, the single constraints that are needed.
//
// Nothing takes part unnamed except what is no constraint: starts lie in [0, stages * II), and variable-latency ops live in
// the producer group. The number of warp groups is a member like the others; the model has more groups than are allowed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "solver/encoding/model.h"

namespace heddle::solver {

/// A rule with those of its constraints that take part.
struct CoreMember {
  ConstraintFamily family = ConstraintFamily::Dependence;
  std::size_t index = 0;  ///< of the unit or user constraint
  std::vector<ConstraintName> parts;
  std::optional<Schedule> without;  ///< keeps the other members' parts, which shows that this one is needed
};

/// The parts of a member of which each belongs to a dependence.
std::vector<EdgeId> edges_of(const CoreMember& member);

struct Core {
  Answer schedulable = Answer::Unknown;  ///< No: refuted, and the members say why
  std::vector<CoreMember> members;       ///< in the order of ConstraintFamily
  bool rechecked = false;                ///< the parts alone contradict each other, in a model made afresh
  bool parts_needed = false;             ///< and no part can be left out
  /// The per-thread limit on registers that takes part is this user constraint's, not the machine's.
  std::optional<std::size_t> register_constraint;
  /// Up to so many warp groups were considered, where more were not decided and might matter.
  std::optional<int> groups_considered;
  std::int64_t queries = 0, conflicts = 0;

  bool verified() const;  ///< alone unsatisfiable, and satisfiable without any one member: both shown
};

/// `options.named` is implied. `progress` says what is being done. Throws Stopped when stopped while building formulas.
Core find_core(const Problem& problem, const Constraints& constraints, ModelOptions options,
               const std::function<void(const std::string&)>& progress = {});

}  // namespace heddle::solver
