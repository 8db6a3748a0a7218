// In which order warp groups take turns on the tensor cores in one window: the ping-pong of attention. It belongs to one
// schedule's timing; a program keeps it only where barriers say so, which is why signatures leave it out.
#pragma once

#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct Turns {
  UnitId unit;
  std::vector<OpId> ops;  ///< by the slot in which they take the unit, from the op with the smallest number on
};

/// Tensor units that ops of several groups use one at a time.
std::vector<Turns> turns_of(const Problem& problem, const Schedule& schedule);

/// Those where it matters who comes first: all groups with products are of four warps and have other work to do in the loop.
std::vector<Turns> contested_turns(const Problem& problem, const Schedule& schedule);

/// More changes of hands per iteration than this order nothing that would be worth the barriers.
inline constexpr std::size_t kMostTurns = 4;
/// Those that a program keeps by barriers: contested ones that change hands at most kMostTurns times per iteration.
std::vector<Turns> kept_turns(const Problem& problem, const Schedule& schedule);

}  // namespace heddle
