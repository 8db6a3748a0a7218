// Starts that follow the edges, mostly.
#include "tests/support/random_schedule.h"

#include <algorithm>

#include "tests/support/small_problem.h"

namespace heddle::test {

Schedule random_schedule(const Problem& p, std::mt19937& random) {
  const Cycle ii = 1 + random() % 20;
  std::vector<std::pair<Cycle, int>> placed;
  const int groups = 1 + static_cast<int>(random() % 3);
  for (std::size_t v = 0; v < p.ops.size(); ++v) {  // one draw a statement: compilers do not agree on the order of arguments
    const int group = static_cast<int>(random() % static_cast<unsigned>(groups));
    const Cycle start = random() % (3 * ii);
    placed.emplace_back(start, group);
  }
  // Mostly in the order of the edges, so that most schedules run.
  if (random() % 8 != 0)
    for (std::size_t pass = 0; pass < p.ops.size(); ++pass)
      for (const Edge& e : p.edges) {
        auto& to = placed[e.to.index()];
        const auto& from = placed[e.from.index()];
        const Cycle due = from.first + e.latency + (to.second == from.second ? 0 : e.handoff) - e.distance * ii;
        if (random() % 10 != 0 && pass + 1 < p.ops.size()) to.first = std::max(to.first, due);
      }
  Schedule s = place(p, ii, placed);
  for (int& depth : s.depths)
    if (depth > 0 && random() % 4 == 0) depth = std::max(1, depth - 1 + static_cast<int>(random() % 3));
  return s;
}

}  // namespace heddle::test
