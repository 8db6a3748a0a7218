// When a question has to be over: made once, where it is asked, and handed down. Whoever gets it looks at what is left; the time is
// never begun again.
#pragma once

#include <algorithm>
#include <chrono>

namespace heddle {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// Three years from now, which stands for never.
  Deadline() : Deadline(kMostSeconds) {}
  /// That many seconds after `begin`; negative ones count as 0, absurd ones as never.
  explicit Deadline(double seconds, Clock::time_point begin = Clock::now())
      : at_(begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::clamp(seconds, 0.0, kMostSeconds)))) {}

  Clock::time_point at() const { return at_; }
  bool passed() const { return Clock::now() >= at_; }
  /// Seconds, never less than 0.
  double left() const { return std::max(0.0, std::chrono::duration<double>(at_ - Clock::now()).count()); }

 private:
  static constexpr double kMostSeconds = 1e8;
  Clock::time_point at_;
};

}  // namespace heddle
