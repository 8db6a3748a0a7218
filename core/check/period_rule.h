// The checker's own rule of motion: how long an iteration takes when warp groups on one quarter of an SM take time from each other. Written
// from the description in core/motion/motion.h and core/machine/contention.h, and from nothing else of core/motion.
//
// Every group is a process that goes from deed to deed of its circle (period_circle.h), the tensor core one more; between two events all
// speeds are constant. Time is counted in 1/4096 of a cycle and rounded up at each event, so a period is too long by at most a cycle in ten
// thousand: what the simulator finds in its own integers has to agree to kTolerance.
#pragma once

#include <cstdint>
#include <string>

#include "core/check/period_circle.h"
#include "core/problem/problem.h"

namespace heddle::check_period {

inline constexpr std::int64_t kGrains = 4096;     ///< of a cycle
inline constexpr std::int64_t kTolerance = 1000;  ///< two readings of one period may differ by one part in so many

struct RuledPeriod {
  std::int64_t grains = 0, iterations = 0;  ///< a period of so many iterations; 0 iterations: it cannot run
  bool steady = false;                      ///< it repeats itself; else the mean of the second half of a long run
  std::string stuck;                        ///< who waits for what, where it cannot run
  double cycles() const { return iterations > 0 ? static_cast<double>(grains) / kGrains / static_cast<double>(iterations) : 0; }
};

/// a takes longer than b for an iteration. Pre: both run.
bool longer(const RuledPeriod& a, const RuledPeriod& b);

/// All groups begin together. Where two could go on at one moment, the one with the smaller number does. The first turn is turn 0.
RuledPeriod period_by_rule(const Problem& problem, const DeedCircles& circles);
RuledPeriod period_by_rule(const Problem& problem, const JudgedProgram& loop);

/// Whether a period of `ticks` 1/256 cycles over `iterations` is this one, within kTolerance.
bool agrees(const RuledPeriod& period, std::int64_t ticks, std::int64_t iterations);

}  // namespace heddle::check_period
