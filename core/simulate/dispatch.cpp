#include "core/simulate/dispatch.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "core/base/saturate.h"

namespace heddle {

Dispatch dispatch(std::span<const std::int64_t> trips, std::int64_t places, const std::function<Cycle(std::int64_t)>& cost) {
  Dispatch result;
  const std::int64_t used = std::max<std::int64_t>(1, std::min(places, static_cast<std::int64_t>(trips.size())));
  result.ends.assign(static_cast<std::size_t>(used), 0);
  result.taken.resize(static_cast<std::size_t>(used));
  using FreePlace = std::pair<Cycle, std::int64_t>;
  std::priority_queue<FreePlace, std::vector<FreePlace>, std::greater<>> free;
  for (std::int64_t p = 0; p < used; ++p) free.emplace(0, p);
  std::unordered_map<std::int64_t, Cycle> costs;
  std::int64_t known = -1;
  Cycle known_cost = 0;
  for (std::size_t tile = 0; tile < trips.size(); ++tile) {
    if (trips[tile] != known) {
      const auto [found, fresh] = costs.try_emplace(trips[tile], 0);
      if (fresh) found->second = cost(trips[tile]);
      known = trips[tile], known_cost = found->second;
    }
    const auto [time, place] = free.top();
    free.pop();
    const auto p = static_cast<std::size_t>(place);
    result.ends[p] = sat_add(time, known_cost);
    free.emplace(result.ends[p], place);
    result.taken[p].push_back(static_cast<std::int32_t>(tile));
  }
  result.last = static_cast<std::size_t>(std::max_element(result.ends.begin(), result.ends.end()) - result.ends.begin());
  result.cycles = result.ends[result.last];
  return result;
}

void sort_longest_first(std::vector<std::int64_t>& trips) {
  if (trips.empty()) return;
  const auto [least, most] = std::minmax_element(trips.begin(), trips.end());
  const std::int64_t first = *least, range = sat_add(*most, -first);
  if (range > static_cast<std::int64_t>(trips.size())) return std::sort(trips.begin(), trips.end(), std::greater<>());
  std::vector<std::size_t> counts(static_cast<std::size_t>(range) + 1, 0);
  for (const std::int64_t t : trips) ++counts[static_cast<std::size_t>(t - first)];
  auto to = trips.begin();
  for (std::size_t k = counts.size(); k-- > 0;) to = std::fill_n(to, counts[k], first + static_cast<std::int64_t>(k));
}

std::vector<std::int64_t> split_tiles(std::span<const std::int64_t> trips, std::int64_t most) {
  std::vector<std::int64_t> pieces;
  pieces.reserve(trips.size());
  for (std::int64_t left : trips) {
    for (; most > 0 && left > most; left -= most) pieces.push_back(most);
    pieces.push_back(left);
  }
  return pieces;
}

}  // namespace heddle
