#include "core/records/race.h"

#include <algorithm>

#include "core/base/quantile.h"
#include "core/records/race_statistics.h"

namespace heddle {

std::vector<std::vector<double>> Race::times() const {
  const bool sustained = std::any_of(racers.begin(), racers.end(), [](const Racer& r) { return !r.sustained_us.empty(); });
  std::vector<std::vector<double>> all;
  for (const Racer& racer : racers)
    all.push_back(!racer.why_not.empty() ? std::vector<double>{} : sustained ? racer.sustained_us : racer.cold_us);
  return all;
}

const Racer* Race::winner() const {
  const std::vector<std::size_t> order = ranked_by_median(times());
  return order.empty() ? nullptr : &racers[order.front()];
}

std::optional<double> Race::correlation() const {
  const std::vector<std::vector<double>> measured = times();
  std::vector<double> model, medians;
  for (std::size_t i = 0; i < racers.size(); ++i)
    if (racers[i].period > 0 && !measured[i].empty()) model.push_back(racers[i].period), medians.push_back(median(measured[i]));
  return rank_correlation(model, medians);
}

}  // namespace heddle
