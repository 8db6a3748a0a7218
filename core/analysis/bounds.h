// Lower bounds on II by arithmetic, no solver: ResMII per unit, RecMII as exact maximum cycle ratio, issue load.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/problem/problem.h"

namespace heddle {

struct UnitLoad {
  UnitId unit;
  std::int64_t work = 0;   ///< sum of duration * amount
  Cycle bound = 0;         ///< ceil(work / capacity), and at least the longest single use that excludes itself
};

struct Recurrence {
  std::vector<EdgeId> edges;   ///< a cycle, in order
  Cycle latency = 0;
  int distance = 0;
  Cycle bound = 0;             ///< ceil(latency / distance)
};

struct Bounds {
  std::vector<UnitLoad> units;     ///< in unit order
  Cycle res_mii = 1;
  UnitId binding_unit;             ///< invalid when nothing uses a unit
  Cycle rec_mii = 1;               ///< hand-offs not counted: groups are not known yet
  Recurrence critical;             ///< empty when there is no cycle
  Cycle issue_mii = 1;             ///< ceil(sum of windows of ops outside the producer group / groups left), and the longest window
  std::string sentence;            ///< one sentence naming what binds: the unit, the recurrence, or the issue streams

  Cycle min_ii() const { return std::max({res_mii, rec_mii, issue_mii}); }
};

/// Pre: every dependence cycle has distance >= 1 (resolve guarantees it).
Bounds compute_bounds(const Problem& problem);

}  // namespace heddle
