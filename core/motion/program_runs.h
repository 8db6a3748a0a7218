// Periods of many programs of one problem: a circle that comes again in other programs is made once.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <vector>

#include "core/motion/motion.h"
#include "core/motion/runner.h"

namespace heddle::motion {

/// For any number of threads; the problem stays as it is.
class ProgramRuns {
 public:
  explicit ProgramRuns(const Problem& problem) : problem_(problem) {}

  /// What motion_of() says of it.
  MotionPeriod period(const timing::LoopProgram& program, const std::stop_token& stop = {});

 private:
  static constexpr std::size_t kMostCircles = 8192;  ///< that are kept, about 10 KB each

  /// All that a circle follows from (circle.h), in numbers.
  using Origin = std::vector<int>;
  const RunCircle* known(const Origin& origin) const;

  const Problem& problem_;
  mutable std::shared_mutex mutex_;
  std::map<Origin, RunCircle> circles_;
};

}  // namespace heddle::motion
