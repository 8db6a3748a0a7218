// Giving way: for a rule that takes part in a refutation, the problems in which that rule alone is a step easier.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/bounds.h"
#include "core/analysis/shortage.h"
#include "core/instance/layout_decisions.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "solver/search/core.h"

namespace heddle::solver {

inline constexpr const char* kDropped = "dropped";  ///< what a user constraint becomes

/// One change, not yet solved. Steps: one more of a unit, 1 KiB of shared memory or one ring slot, the next power of two of
/// tensor memory, rings of 32 slots with all the memory they want, one warp group, four warps, one granule of registers, a latency or
/// hand-off of 0 on all edges of a kind, one iteration more of distance, a user constraint one step wider or gone.
struct Easing {
  std::size_t member = 0;  ///< which member it eases
  std::string what, from, to;
  Problem problem;
  Constraints constraints;
  Changes changes{};  ///< that make the new problem of the old one; see WayOut
  std::optional<std::size_t> constraint{};
  std::optional<std::int64_t> limit{};
  LayoutChoices choices{};
  /// Every schedule of the old problem is one of the new. Not so when a distance grows: values then live longer.
  bool keeps_schedules = true;
};

/// Every easing once, the members in order.
std::vector<Easing> easings_of(const Problem& problem, const Constraints& constraints, const Core& core);
std::vector<Easing> easings_of(const Problem& problem, const Constraints& constraints, const std::vector<BoundFact>& facts);
/// Each decision whose candidate as given is dominated by one that holds the port for fewer cycles: that one, and all of them at once. They
/// ease `member`.
std::vector<Easing> easings_of(const OpenLayouts& layouts, const Constraints& constraints, std::size_t member);
/// The step for memory and registers is what they lack.
std::vector<Easing> easings_of(const Problem& problem, const Constraints& constraints, const std::vector<Shortage>& shortages);

}  // namespace heddle::solver
