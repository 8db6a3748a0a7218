// The maximum cycle ratio of a graph, sum of weights / sum of tokens, exactly. It is the smallest period P for which times
// x exist with x(to) + P * tokens >= x(from) + weight on every edge: RecMII of a dependence graph, the sustainable period of
// an event graph. Method: start at 0; while some cycle is positive at the present period, raise the period to its ratio
// (Dinkelbach on Bellman-Ford), in 128-bit integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle {

struct RatioEdge {
  std::size_t from = 0, to = 0;
  std::int64_t weight = 0;  ///< |weight| <= 2^46
  std::int64_t tokens = 0;  ///< |tokens| <= 2^46; may be negative on single edges
};

struct CycleRatio {
  bool impossible = false;              ///< no period is large enough; `cycle` (tokens <= 0) shows why
  std::int64_t weight = 0, tokens = 1;  ///< the ratio, unreduced; 0/1 when no cycle has positive weight
  std::vector<std::size_t> cycle;       ///< indices of the edges of a cycle with this ratio, in order; may be empty
};

CycleRatio max_cycle_ratio(std::size_t nodes, std::span<const RatioEdge> edges);

/// The least times that keep every edge at this period, none of them earlier than given. Pre: no cycle is positive at it.
std::vector<std::int64_t> longest_paths(std::span<const RatioEdge> edges, std::int64_t period, std::vector<std::int64_t> times);

}  // namespace heddle
