// A schedule without Z3, for graphs on which the first query takes long: ops are placed one by one, slot and group
// together; what stands in the way of an op that fits nowhere is taken out and placed again later, the ops that were
// hard to place last (Rau's iterative modulo scheduling with ejection by penalties). Proves nothing, and the checker
// judges what it finds.
#pragma once

#include <cstdint>
#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "solver/z3/backend.h"

namespace heddle::solver {

struct PlacementOptions {
  Cycle ii = 1;
  int stages = 6;  ///< no schedule of more stages is returned
  std::uint64_t seed = 0;
  std::int64_t budget = 1000;       ///< placements tried; the effort, so that giving up is repeatable
  QueryLimits limits;               ///< throws Stopped
  bool in_order = false;            ///< each group runs its ops in the order of the kernel: short lives of registers
  const Schedule* start = nullptr;  ///< one for another II, to begin with
};

/// A schedule that the checker accepts, or nothing.
std::optional<Schedule> place_ops(const Problem& problem, const Constraints& constraints, const PlacementOptions& options);

}  // namespace heddle::solver
