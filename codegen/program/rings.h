// Rings deeper than the schedule needs. The solver proves the fewest slots that the model's latencies allow; loads under pressure take
// longer than that, and shared memory that is left over costs nothing: every further slot lets the loads run further ahead.
#pragma once

#include "codegen/program/program.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::codegen {

/// Bytes that a block may have without one block less on an SM.
std::int64_t room_of_block(const Problem& problem, const Program& program);

/// `schedule` with the rings that loads fill deeper, the shallowest first, until the next slot would not fit beside what `program`, built
/// of `schedule`, has in shared memory, or would cost a block per SM. Everything else stays.
Schedule with_deeper_rings(const Problem& problem, const Schedule& schedule, const Program& program);

/// `schedule` with two slots in those rings that have one; it may be too much for shared memory.
Schedule with_double_rings(const Problem& problem, const Schedule& schedule);

}  // namespace heddle::codegen
