// Amounts over one II window: intervals of absolute time are folded modulo II and added up. Works on interval ends, never
// on single cycles, so its cost does not depend on II.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/id.h"
#include "core/base/integer_division.h"

namespace heddle {

/// A step function over [0, II): value from `at` until the next step. The first step is at 0.
struct UsageStep {
  Cycle at = 0;
  std::int64_t value = 0;
};
using UsageCurve = std::vector<UsageStep>;

/// The value in force at `at`; 0 before the first step.
inline std::int64_t value_at(const UsageCurve& profile, Cycle at) {
  std::int64_t value = 0;
  for (const UsageStep& step : profile)
    if (step.at <= at) value = step.value;
  return value;
}

/// How many copies of [begin, end), repeated every `ii` cycles, contain `time`.
inline std::int64_t copies_alive(Cycle begin, Cycle end, Cycle time, Cycle ii) {
  return end <= begin ? 0 : floor_div(time - begin, ii) - floor_div(time - end, ii);
}

class ModuloUsage {
 public:
  explicit ModuloUsage(Cycle ii) : ii_(ii) {}
  /// `amount` during [begin, begin + length), and again every II cycles. Nothing for length <= 0.
  void add(Cycle begin, Cycle length, std::int64_t amount);
  /// Steps in order, neighbours of equal value merged.
  UsageCurve steps() const;

 private:
  Cycle ii_;
  std::int64_t always_ = 0;
  std::vector<UsageStep> changes_;
};

std::int64_t peak(const UsageCurve& profile);

}  // namespace heddle
