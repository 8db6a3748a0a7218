// A topological sort of what has to happen at one cycle.
#include "core/analysis/stream_order.h"

#include <algorithm>
#include <utility>

#include "core/analysis/channels.h"
#include "core/base/saturate.h"

namespace heddle {

std::vector<std::size_t> tie_ranks(const Problem& problem, const Schedule& schedule) {
  const std::size_t count = problem.ops.size();
  std::vector<std::vector<std::size_t>> after(count);
  std::vector<int> open(count, 0);
  const auto order = [&](OpId a, OpId b) {
    if (a == b) return;
    after[a.index()].push_back(b.index());
    ++open[b.index()];
  };
  for (const Edge& e : problem.edges)
    if (schedule.start(e.to) + sat_mul(e.distance, schedule.ii) == schedule.start(e.from)) order(e.from, e.to);
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const Channel& channel = problem.channels[c];
    for (const Reader& r : channel.readers)
      if (reader_counts(channel, r, schedule) &&
          schedule.start(channel.writer) + sat_mul(schedule.depths[c] - r.distance, schedule.ii) == schedule.start(r.op))
        order(r.op, channel.writer);
  }
  std::vector<std::size_t> rank(count, count), ready;
  for (std::size_t v = 0; v < count; ++v)
    if (open[v] == 0) ready.push_back(v);
  // Without issue time first: such an op may begin together with one that keeps the stream busy.
  std::size_t next = 0;
  while (!ready.empty()) {
    const auto best = std::min_element(ready.begin(), ready.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(problem.ops[a].window > 0, a) < std::pair(problem.ops[b].window > 0, b);
    });
    const std::size_t v = *best;
    ready.erase(best);
    rank[v] = next++;
    for (const std::size_t w : after[v])
      if (--open[w] == 0) ready.push_back(w);
  }
  return rank;
}

}  // namespace heddle
