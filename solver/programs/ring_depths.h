// How deep rings are in programs: as deep as memory allows, because a slot more makes nobody wait.
#pragma once

#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::programs {

struct RingDepths {
  /// Per channel of the problem, 0 where it does not exist. Each keeps to memory and to demands, and no ring of it could be one deeper.
  /// The first is the most even one: the shallowest ring gets the next slot. Empty: not even one slot each fits.
  std::vector<std::vector<int>> choices;
  std::vector<int> deepest;  ///< each ring as deep as it may be by itself, whatever memory says
  bool all = true;           ///< false: there are more choices than kMostDepthChoices, and these are the first of them
};

inline constexpr std::size_t kMostDepthChoices = 64;

/// `groups` says which channels exist.
RingDepths ring_depths(const Problem& problem, const Schedule& groups, const Constraints& constraints);

}  // namespace heddle::programs
