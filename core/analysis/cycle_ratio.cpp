#include "core/analysis/cycle_ratio.h"

#include <algorithm>

#include "core/base/saturate.h"

namespace heddle {
namespace {

using Wide = __int128;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Ratio {
  std::int64_t weight = 0, tokens = 1;
};

Wide excess(const RatioEdge& edge, const Ratio& period) {
  return static_cast<Wide>(edge.weight) * period.tokens - static_cast<Wide>(edge.tokens) * period.weight;
}

/// Of the cycles in the graph of last improvements, the one with the greatest ratio; a cycle without tokens beats all.
std::vector<std::size_t> best_parent_cycle(std::span<const RatioEdge> edges, const std::vector<std::size_t>& parent) {
  std::vector<std::size_t> best;
  Wide best_weight = 0, best_tokens = 1;
  std::vector<std::size_t> seen_by(parent.size(), kNone);
  for (std::size_t root = 0; root < parent.size(); ++root) {
    std::size_t v = root;
    while (seen_by[v] == kNone && parent[v] != kNone) {
      seen_by[v] = root;
      v = edges[parent[v]].from;
    }
    if (parent[v] == kNone || seen_by[v] != root) continue;
    std::vector<std::size_t> cycle;
    Wide weight = 0, tokens = 0;
    std::size_t u = v;
    do {
      const RatioEdge& edge = edges[parent[u]];
      cycle.push_back(parent[u]);
      weight += edge.weight;
      tokens += edge.tokens;
      u = edge.from;
    } while (u != v);
    std::reverse(cycle.begin(), cycle.end());
    if (tokens <= 0) return cycle;
    if (best.empty() || weight * best_tokens > best_weight * tokens) {
      best = std::move(cycle);
      best_weight = weight;
      best_tokens = tokens;
    }
  }
  return best;
}

/// A cycle whose weight exceeds period * tokens; empty when there is none.
std::vector<std::size_t> positive_cycle(std::size_t nodes, std::span<const RatioEdge> edges, const Ratio& period) {
  std::vector<Wide> excesses;
  excesses.reserve(edges.size());
  for (const RatioEdge& edge : edges) excesses.push_back(excess(edge, period));
  std::vector<Wide> distance(nodes, 0);
  std::vector<std::size_t> parent(nodes, kNone);
  // Looking for a cycle of improvements costs as much as a pass over the nodes; every few passes is enough, and after
  // `nodes` passes with improvements there is one.
  for (std::size_t pass = 1;; ++pass) {
    bool improved = false;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const Wide candidate = distance[edges[e].from] + excesses[e];
      if (candidate > distance[edges[e].to]) {
        distance[edges[e].to] = candidate;
        parent[edges[e].to] = e;
        improved = true;
      }
    }
    if (!improved) return {};
    if (pass % 4 == 0 || pass > nodes) {
      auto cycle = best_parent_cycle(edges, parent);
      if (!cycle.empty()) return cycle;
    }
  }
}

}  // namespace

CycleRatio max_cycle_ratio(std::size_t nodes, std::span<const RatioEdge> edges) {
  CycleRatio result;
  for (;;) {
    auto cycle = positive_cycle(nodes, edges, {result.weight, result.tokens});
    if (cycle.empty()) return result;
    result.weight = result.tokens = 0;
    for (std::size_t e : cycle) {
      result.weight += edges[e].weight;
      result.tokens += edges[e].tokens;
    }
    result.cycle = std::move(cycle);
    if (result.tokens <= 0) {
      // Every smaller period was refuted by an earlier cycle, and this one refutes every larger one.
      result.impossible = true;
      return result;
    }
  }
}

std::vector<std::int64_t> longest_paths(std::span<const RatioEdge> edges, std::int64_t period, std::vector<std::int64_t> times) {
  for (std::size_t pass = 0; pass <= times.size(); ++pass) {
    bool moved = false;
    for (const RatioEdge& e : edges) {
      const std::int64_t due = sat_add(sat_add(times[e.from], e.weight), -sat_mul(e.tokens, period));
      if (due <= times[e.to]) continue;
      times[e.to] = due;
      moved = true;
    }
    if (!moved) break;
  }
  return times;
}

}  // namespace heddle
