// Which program has the least period, where warp groups take time from each other: put to the search, and told.
#pragma once

#include <stop_token>
#include <string>

#include "app/ask/ending.h"
#include "core/answers/least_period.h"
#include "core/problem/changes.h"

namespace heddle::app {

struct PeriodOptions {
  int stages = 3;                           ///< at most so many in a group
  std::int64_t most_programs = 10'000'000;  ///< with more of them not all are compared
  Changes what_if{};                        ///< of each alone: what becomes of the period
};

/// Compared with hand schedules that ship with the kernel and with every heuristic's. Pre: the subject has a schedule, whose groups all
/// programs keep.
LeastPeriod ask_period(const Subject& subject, const PeriodOptions& options, std::stop_token stop, const Listener<LeastPeriod>& listener);
Ended ended(const LeastPeriod& answer);
std::string told(const Subject& subject, const LeastPeriod& answer, const Telling& how);

}  // namespace heddle::app
