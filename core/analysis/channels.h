// Channels under a schedule: whether they exist, how long a slot is taken, how many slots are needed.
#pragma once

#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// Whether this reader counts: always, except that a register value's channel serves only readers in other groups.
bool reader_counts(const Channel& channel, const Reader& reader, const Schedule& schedule);

/// Whether the channel exists: always, except for a register value that no other group reads.
bool channel_exists(const Channel& channel, const Schedule& schedule);

/// When this reader has released what the writer of iteration 0 wrote, without the signal to the writer.
Cycle read_end(const Reader& reader, const Schedule& schedule);

/// How long a slot stays alive: from its writer's start to the end of the last read; >= 0.
Cycle slot_life(const Channel& channel, const Schedule& schedule);

/// The fewest slots that satisfy depth and credit (0 where the channel does not exist); max_depth is not considered.
std::vector<int> minimal_depths(const Problem& problem, const Schedule& schedule);

/// Sum of depth * size over the channels of this space, plus residents.
std::int64_t allocated(const Problem& problem, const Schedule& schedule, Space space);

/// mbarriers of all rings: one that crosses groups needs a full and an empty one for every slot.
std::int64_t ring_barriers(const Problem& problem, const Schedule& schedule);

/// What a number of tensor memory columns takes when it is allocated: a power of two, at least 32; 0 for none.
std::int64_t rounded_columns(std::int64_t columns);

/// Whether what the schedule keeps in shared and tensor memory fits.
bool memory_fits(const Problem& problem, const Schedule& schedule);

}  // namespace heddle
