// Which warp group suits an op: ops that pass values on in registers stay together, as long as there are several such chains and
// groups to share them. A good guess, no rule.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/problem/problem.h"

namespace heddle::solver {

/// Of each op a group from `first` on and below `groups`; nothing for ops of variable latency, and where there is no choice to make.
std::vector<std::optional<std::size_t>> homes_of(const Problem& problem, std::size_t first, std::size_t groups);

}  // namespace heddle::solver
