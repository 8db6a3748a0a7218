// Chains are unions of ops that pass on registers; the one with most work goes first, into the group that has the least to do.
#include "solver/encoding/homes.h"

#include <algorithm>
#include <numeric>

namespace heddle::solver {

std::vector<std::optional<std::size_t>> homes_of(const Problem& problem, std::size_t first, std::size_t groups) {
  const std::size_t size = problem.ops.size();
  std::vector<std::optional<std::size_t>> homes(size);
  std::vector<std::size_t> chain(size);
  std::iota(chain.begin(), chain.end(), std::size_t{0});
  const auto root = [&](std::size_t v) {
    while (chain[v] != v) v = chain[v] = chain[chain[v]];
    return v;
  };
  for (const Edge& e : problem.edges)
    if (e.value.valid() && problem.value(e.value).registers > 0)
      chain[std::max(root(e.from.index()), root(e.to.index()))] = std::min(root(e.from.index()), root(e.to.index()));
  std::vector<Cycle> work(size, 0);
  std::vector<std::size_t> members(size, 0), chains;
  for (std::size_t v = 0; v < size; ++v) {
    if (problem.ops[v].variable_latency) continue;
    work[root(v)] += problem.ops[v].window;
    if (++members[root(v)] == 2) chains.push_back(root(v));
  }
  if (chains.size() < 2 || groups < first + 2) return homes;
  std::stable_sort(chains.begin(), chains.end(), [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  std::vector<Cycle> load(groups, 0);
  std::vector<std::optional<std::size_t>> group(size);
  for (const std::size_t c : chains) {
    const auto least = std::min_element(load.begin() + static_cast<std::ptrdiff_t>(first), load.end()) - load.begin();
    group[c] = static_cast<std::size_t>(least);
    load[static_cast<std::size_t>(least)] += work[c] + 1;
  }
  for (std::size_t v = 0; v < size; ++v)
    if (!problem.ops[v].variable_latency) homes[v] = group[root(v)];
  return homes;
}

}  // namespace heddle::solver
