// Wall time of searches: deadlines from seconds, and seconds from points in time.
#pragma once

#include <algorithm>
#include <chrono>

namespace heddle {

using Clock = std::chrono::steady_clock;

/// That much later; negative seconds count as 0, absurd ones as three years.
inline Clock::time_point deadline_after(Clock::time_point begin, double seconds) {
  return begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e8)));
}

inline double seconds_between(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }
inline double seconds_since(Clock::time_point begin) { return seconds_between(begin, Clock::now()); }

}  // namespace heddle
