// The least period against one resource: the same as the front of II (pareto.h), where a period decides which schedule is fast.
#pragma once

#include <stop_token>

#include "core/answers/pareto.h"
#include "solver/questions/least_order.h"

namespace heddle::solver {

/// Adds points to the front: the least period, then the same again with less of the resource than that program's schedule takes, until no
/// known order takes so little. Schedules of the front are known orders too. What of the same period takes less takes a point's place.
/// Programs keep the groups of the fastest known order that keeps the cap. Pre: the front is against one resource;
/// chooses_by_period(problem).
void add_period_front(LeastOrderRequest request, Pareto& front, const std::stop_token& stop,
                      const programs::ProgressListener& listener = {});

}  // namespace heddle::solver
