// Building problems and schedules by hand, in few words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::test {

/// Roomy limits: 64 KiB shared memory, 512 columns, 255 registers, no overhead, granule 8.
Problem empty_problem();

UnitId add_unit(Problem& problem, std::string name, std::int64_t capacity = 1);
OpId add_op(Problem& problem, std::string name, Cycle latency, Cycle window = 0, std::vector<UnitUse> uses = {});
/// An order edge; the reference holds until the next edge is added.
Edge& add_edge(Problem& problem, OpId from, OpId to, Cycle latency, int distance = 0);
/// A register value of this many registers.
ValueId add_registers(Problem& problem, OpId producer, int registers);
/// A value in shared memory with its channel; the writer is the producer.
ChannelId add_channel(Problem& problem, OpId producer, std::int64_t bytes, std::vector<Reader> readers);

/// Starts and groups in op order; warps and depths are the least that work.
Schedule place(const Problem& problem, Cycle ii, std::vector<std::pair<Cycle, int>> starts_and_groups);

}  // namespace heddle::test
