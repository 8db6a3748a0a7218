// Programs of kernels that have too many of them: orders that are known are changed a little, again and again. What is found is good; what
// it could lose at most says the bound on every period (core/motion/bound.h).
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/base/deadline.h"
#include "solver/programs/enumerate.h"
#include "solver/programs/ranking.h"

namespace heddle::programs {

struct LocalSearchLimits {
  std::int64_t most_programs = 20'000;  ///< that are run, from all beginnings together
  std::uint64_t seed = 0;
  Deadline deadline{};
  std::stop_token stop{};
};

/// From each of these schedules: an op goes elsewhere on its group's circle, works on an earlier iteration, or a group's mmas share their
/// turn with others. A change stays if the period is not longer than before by more than an allowance that shrinks from 2 % to nothing.
/// Every program keeps dependences, registers and demands. The same seed gives the same answer where time does not run out. Adds what it
/// finds to the ranking and returns how many programs were run. Schedules whose groups hold other ops than the assembly's are left out.
std::int64_t local_search(const Assembly& assembly, const std::vector<Schedule>& seeds, Ranking& ranking,
                          const LocalSearchLimits& limits = {}, const ProgressListener& listener = {});

/// Whether the same ops share a group in both, whatever the groups are called.
bool same_groups(const Schedule& a, const Schedule& b);

}  // namespace heddle::programs
