// Programs of nearly the least period: other orders that are as fast where warp groups take time from each other, whatever their II.
#pragma once

#include <stop_token>

#include "core/answers/alternatives.h"
#include "solver/questions/least_order.h"

namespace heddle::solver {

/// Adds to the answer the least period, and up to `count` programs within kNearlyLeastPercent of it of which there is a legal schedule.
/// The schedules that the answer has already are known orders too. Nothing where no order runs. Pre: chooses_by_period(problem).
void add_programs(LeastOrderRequest request, int count, Alternatives& answer, const std::stop_token& stop,
                  const programs::ProgressListener& listener = {});

}  // namespace heddle::solver
