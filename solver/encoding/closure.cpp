// Differences are closed by the method of Floyd and Warshall.
#include "solver/encoding/closure.h"

#include <algorithm>

#include "core/base/integer_division.h"

namespace heddle::solver {

bool never_same_group(const Op& a, const Op& b) { return a.variable_latency != b.variable_latency; }

std::vector<StartDifference> certain_differences(const Problem& problem, Cycle ii) {
  std::vector<StartDifference> differences;
  for (const Edge& e : problem.edges) {
    Cycle apart = e.latency - static_cast<Cycle>(e.distance) * ii;
    if (never_same_group(problem.op(e.from), problem.op(e.to))) apart += e.handoff;
    differences.push_back({e.from, e.to, apart});
  }
  for (const Channel& c : problem.channels)
    for (const Reader& r : c.readers) {
      const bool crosses = never_same_group(problem.op(c.writer), problem.op(r.op));
      if (c.only_if_crossing && !crosses) continue;
      differences.push_back({r.op, c.writer, r.release + (crosses ? r.signal : 0) + static_cast<Cycle>(r.distance - c.max_depth) * ii});
    }
  return differences;
}

Closure::Closure(const Problem& problem, Cycle ii, int stages, const QueryLimits& limits) : size_(problem.ops.size()) {
  bound_.assign(size_ * size_, -(ii * stages - 1));
  for (std::size_t v = 0; v < size_; ++v) bound_[v * size_ + v] = 0;
  for (const StartDifference& d : certain_differences(problem, ii)) {
    Cycle& bound = bound_[d.from.index() * size_ + d.to.index()];
    bound = std::max(bound, d.apart);
  }
  propagate(limits);
}

void Closure::propagate(const QueryLimits& limits) {
  for (std::size_t m = 0; m < size_; ++m) {
    limits.keep();
    for (std::size_t u = 0; u < size_; ++u) {
      const Cycle first = bound_[u * size_ + m];
      for (std::size_t v = 0; v < size_; ++v) {
        Cycle& bound = bound_[u * size_ + v];
        bound = std::max(bound, first + bound_[m * size_ + v]);
      }
    }
  }
  for (std::size_t v = 0; v < size_; ++v) contradiction_ |= bound_[v * size_ + v] > 0;
}

int least_depth(const Problem& problem, const Closure& closure, Cycle ii, const Channel& channel) {
  if (channel.only_if_crossing) return 0;
  Cycle needed = ii;
  for (const Reader& r : channel.readers) {
    const bool crosses = never_same_group(problem.op(channel.writer), problem.op(r.op));
    const Cycle apart = channel.writer == r.op ? 0 : closure.at(channel.writer, r.op);
    needed = std::max(needed, apart + r.distance * ii + r.release + (crosses ? r.signal : 0));
  }
  return static_cast<int>(ceil_div(needed, ii));
}

}  // namespace heddle::solver
