// What passes between warp groups in one iteration: entries of rings, their bytes, and the arrivals at barriers that keep them in order.
//
// An entry is one value in one slot; values that share a slot (aliases) are an entry each. Arrivals are those of the program that the
// schedule implies (core/analysis/pipeline_program.h): one where hardware arrives when a copy or product is done, else one for each warp of
// the group that signals. Full barriers say that an entry can be read, empty ones that a slot can be written. Orders without a value
// and turns on the tensor cores carry nothing and do not count.
#pragma once

#include <cstdint>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct RingTokens {
  ChannelId channel;
  GroupId writer;                ///< of the op that fills a slot first
  std::vector<GroupId> readers;  ///< in rising order
  int depth = 0;
  std::int64_t slot_bytes = 0;  ///< columns of tensor memory as 512 bytes each
  // Per iteration.
  std::int64_t entries = 0, bytes = 0, full_arrivals = 0, empty_arrivals = 0;

  std::int64_t held() const { return slot_bytes * depth; }
};

/// All rings from one group to another. What two groups read of one ring counts for each of them; so do arrivals at its full barrier.
struct PairTokens {
  GroupId from, to;
  std::int64_t rings = 0, entries = 0, bytes = 0, full_arrivals = 0, empty_arrivals = 0;
};

struct Tokens {
  std::vector<RingTokens> rings;  ///< those that the schedule has, in the order of the problem's channels
  std::vector<PairTokens> pairs;  ///< by from and to
};

/// Pre: the schedule's sizes fit the problem, II >= 1.
Tokens tokens_per_iteration(const Problem& problem, const Schedule& schedule);

}  // namespace heddle
