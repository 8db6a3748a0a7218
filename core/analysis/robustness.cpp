// The bearable delay of an op is the least of tokens * II - weight over the cycles through it: longest walks between all
// pairs, by Floyd and Warshall.
#include "core/analysis/robustness.h"

#include <algorithm>

#include "core/analysis/period.h"
#include "core/analysis/slack.h"
#include "core/base/saturate.h"

namespace heddle {

std::vector<Cycle> bearable_delays(const Problem& problem, const Schedule& schedule) {
  constexpr Cycle kNoWalk = -(Cycle{1} << 60);
  const std::size_t count = problem.ops.size();
  std::vector<Cycle> walk(count * count, kNoWalk);
  for (const EventEdge& e : event_graph(problem, schedule)) {
    Cycle& longest = walk[e.from.index() * count + e.to.index()];
    longest = std::max(longest, std::clamp(sat_add(e.weight, -sat_mul(e.tokens, schedule.ii)), kNoWalk + 1, -kNoWalk));
  }
  for (std::size_t m = 0; m < count; ++m)
    for (std::size_t u = 0; u < count; ++u) {
      const Cycle first = walk[u * count + m];
      if (first == kNoWalk) continue;
      for (std::size_t v = 0; v < count; ++v)
        if (const Cycle second = walk[m * count + v]; second != kNoWalk)
          walk[u * count + v] = std::max(walk[u * count + v], std::clamp(first + second, kNoWalk + 1, -kNoWalk));
    }
  std::vector<Cycle> delays;
  for (std::size_t v = 0; v < count; ++v) {
    const Cycle round = walk[v * count + v];
    delays.push_back(round == kNoWalk ? kUnlimited : -round);
  }
  return delays;
}

Robustness robustness_of(const Problem& problem, const Schedule& schedule) {
  std::vector<Cycle> delays = bearable_delays(problem, schedule);
  Robustness result;
  if (delays.empty()) return result;
  std::sort(delays.begin(), delays.end());
  result.least = delays.front();
  result.median = delays[delays.size() / 2];
  result.critical = static_cast<int>(std::count_if(delays.begin(), delays.end(), [](Cycle c) { return c <= 0; }));
  return result;
}

}  // namespace heddle
