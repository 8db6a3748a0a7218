// A role's run as a list of events, before it is folded into sections: which waits cover which wgmmas, and what follows from that.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/program/parts.h"
#include "codegen/program/program.h"

namespace heddle::codegen {

struct Event {
  Step step;
  std::int64_t window = -1;  ///< -1: begin; number of windows: end
  OpId retires;              ///< Retire: which op, of which iteration; invalid: all
  std::int64_t retired_iteration = 0;
};

inline constexpr std::size_t kNever = static_cast<std::size_t>(-1);

/// Fills `keep` of every wait for groups, and says when each issue is known to have finished.
std::vector<std::size_t> settle_groups(std::vector<Event>& events);

/// No thread may look at what a wgmma in flight takes from registers: waits for it where the schedule has none.
void await_operands(std::vector<Event>& events);

/// A tile that was loaded once is given back with `arrive` as soon as its last reader is over, so that the next one can be on its way
/// while the pipeline drains.
void release_tile(std::vector<Event>& events, std::size_t buffer, Event arrive);

/// Blackwell: what has to stand between the accesses to tensor memory of a role and its waits, signals and mmas: waits for loads and
/// stores, fences, and a meeting of its warps before an mma touches what they have touched.
void order_tensor_accesses(std::vector<Event>& events, const std::vector<Buffer>& buffers, const std::vector<Barrier>& barriers,
                           const RoleDraft& draft);

}  // namespace heddle::codegen
