// What an order is worth: the warp groups and the order of a schedule that was made with other costs (rounded ones, another
// machine's) kept, its starts thrown away and computed afresh from the problem's own.
#pragma once

#include "core/analysis/period.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct OrderWorth {
  Period period;      ///< that the order sustains
  Schedule schedule;  ///< as soon as possible at that period; untouched groups and order when it deadlocks
};

/// `order`: II, starts and groups in any unit of time. Ops that start together are put into the order of their dependences,
/// the natively earlier first. Rings get the depths that help and fit: 1 slot each, then one more for whichever ring limits
/// the period, as long as memory lasts, and beyond that only where the order could not run otherwise. Whether the result is
/// a legal schedule is the checker's business; what only three or more uses of one unit exceed together is no order, so
/// that on units of capacity 2 and more the period is a lower bound (core/analysis/period.h).
OrderWorth order_worth(const Problem& problem, const Schedule& order);

}  // namespace heddle
