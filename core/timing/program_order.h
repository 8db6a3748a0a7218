// Orders of ops inside one iteration, which programs (core/timing/program.h) are made of.
#pragma once

#include <cstddef>
#include <queue>
#include <utility>
#include <vector>

#include "core/problem/problem.h"

namespace heddle::timing {

/// Dependence order; among the ops that are free to come next the one with the least key.
template <class Key>
std::vector<OpId> ordered_by(const Problem& problem, const std::vector<Key>& key) {
  std::vector<int> waiting(problem.ops.size(), 0);
  for (const Edge& e : problem.edges) waiting[e.to.index()] += e.distance == 0;
  const auto later = [&](std::size_t a, std::size_t b) { return std::pair(key[a], a) > std::pair(key[b], b); };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> free(later);
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (waiting[v] == 0) free.push(v);
  std::vector<OpId> order;
  while (!free.empty()) {
    const std::size_t v = free.top();
    free.pop();
    order.push_back(OpId(v));
    for (const Edge& e : problem.edges)
      if (e.distance == 0 && e.from.index() == v && --waiting[e.to.index()] == 0) free.push(e.to.index());
  }
  return order;
}

/// Ops in an order that respects the dependences inside one iteration; where these leave a choice, as the kernel lists
/// them.
inline std::vector<OpId> program_order(const Problem& problem) { return ordered_by(problem, std::vector<int>(problem.ops.size(), 0)); }

}  // namespace heddle::timing
