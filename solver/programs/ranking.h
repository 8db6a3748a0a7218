// The best programs of all that were run, in the order of their periods.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/motion/motion.h"
#include "core/timing/program.h"

namespace heddle::programs {

struct Ranked {
  timing::LoopProgram program;
  motion::MotionPeriod period;
  std::string from;  ///< of a schedule that was known: its name; empty: found here
};

/// Keeps at most `most` programs, all within `percent` of the least. Of equal periods the one that came first is before.
class Ranking {
 public:
  Ranking(std::size_t most, int percent) : most_(most), percent_(percent) {}

  /// Whether a program of this period, or of a longer one, would be kept no more.
  bool too_long(const motion::MotionPeriod& period) const;
  /// The same for a bound on the period in ticks.
  bool too_long(motion::Ticks bound) const { return too_long(motion::MotionPeriod{bound, 1}); }
  void add(Ranked found);

  bool empty() const { return kept_.empty(); }
  const std::vector<Ranked>& kept() const { return kept_; }  ///< the least first

 private:
  std::size_t most_;
  int percent_;
  std::vector<Ranked> kept_;
};

/// Whether a is at most `percent` longer than b. Pre: b has a period.
bool within(const motion::MotionPeriod& a, const motion::MotionPeriod& b, double percent);

}  // namespace heddle::programs
