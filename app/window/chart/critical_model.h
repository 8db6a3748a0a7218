// What limits II, as marks on a chart: the binding unit, the binding recurrence, or where neither reaches II, the cycle of
// events that limits this order.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/bounds.h"
#include "core/analysis/period.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// One step of a cycle: `to`, so many iterations later, waits for `from`.
struct CycleStep {
  OpId from, to;
  std::int64_t iterations = 0;
  bool data = true;  ///< false: order on a unit or in a group, or a ring's slot
};

struct CriticalModel {
  std::string legend;  ///< what is drawn, or that neither bound binds
  std::vector<OpId> ops;
  std::vector<CycleStep> cycle;    ///< in order; empty when only a unit binds
  std::vector<std::string> lanes;  ///< by label
};

CriticalModel build_critical(const Problem& problem, const Bounds& bounds, const Schedule& schedule, const Period& period);

}  // namespace heddle::app
