// Slack of a period: by how much an op may take longer before a program does, in the rule of motion (core/motion/motion.h).
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/motion/motion.h"

namespace heddle::motion {

/// A period that grows by less has not grown: in its last digits it is only seen how a program fell into step.
inline constexpr double kPeriodGrowth = 0.001;

struct OpGrowth {
  OpId op;
  /// So many cycles longer and the period is not; none: so it is even with a whole period more.
  std::optional<std::int64_t> cycles;
};

/// Of one op after the other, all else as it is: of arithmetic its time alone as compiled, so that none of the cycles hides, of an mma its
/// cycles on the tensor core, of a copy its latency. One cycle more makes the period longer by more than kPeriodGrowth of it, or
/// keeps the program from running. The end is found by doubling and halving: where a period first grows and then shrinks again, it is one
/// of several. In the order of `ops`; fewer when stopped. Nothing where the machine has no contention or the program cannot run.
std::vector<OpGrowth> period_slack(const Problem& problem, const Schedule& schedule, const std::vector<OpId>& ops,
                                   const std::stop_token& stop = {});

}  // namespace heddle::motion
