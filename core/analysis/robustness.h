// How much a schedule's order can bear: the delay that one op may suffer in every iteration, all orders and ring depths as
// they are, before the loop can no longer keep its II. It is read off the event graph (core/analysis/period.h), so it
// belongs to the program and not to where idle time happens to lie.
#pragma once

#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// In op order, cycles; kUnlimited (core/analysis/slack.h) where no cycle of events passes through the op, negative where
/// II is not kept even now.
std::vector<Cycle> bearable_delays(const Problem& problem, const Schedule& schedule);

struct Robustness {
  Cycle least = 0, median = 0;  ///< of the bearable delays
  int critical = 0;             ///< ops that bear none
};
Robustness robustness_of(const Problem& problem, const Schedule& schedule);

}  // namespace heddle
