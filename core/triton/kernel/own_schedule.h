// Triton's own schedule of a loop, and what its pipeliner would make of it: orders that come without cycles. Which they sustain is worked
// out here (core/timing/program.h), without any search.
#pragma once

#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/triton/kernel/native.h"

namespace heddle::triton {

/// The text's own, with the cycles that its order sustains; none where the text has none, where the problem has other ops than the triton
/// reading, and where the order waits for itself.
std::optional<Schedule> own_schedule(const Native& native, const Problem& problem);

/// The stages that Triton's pipeliner would choose for another num_stages, of a loop without mma if the loop asked for them. Where the text
/// has stages for `known`, all but the loads move by the difference; where it has none (0), loads share the stages by their levels.
/// None where that order waits for itself. Pre: the problem was made from native.kernel in the triton reading.
std::optional<Schedule> pipelined_schedule(const Native& native, const Problem& problem, int num_stages, int known);

}  // namespace heddle::triton
