#include "core/records/race_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/assert.h"
#include "core/base/quantile.h"

namespace heddle {

double sign_test(const std::vector<double>& a, const std::vector<double>& b) {
  std::size_t less = 0, more = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) less += a[i]<b[i], more += a[i]> b[i];
  const std::size_t all = less + more;
  double term = std::pow(0.5, static_cast<double>(all)), tail = 0;  // of the binomial distribution
  for (std::size_t k = 0; k <= std::min(less, more); ++k) {
    tail += term;
    term *= static_cast<double>(all - k) / static_cast<double>(k + 1);
  }
  return std::min(1.0, 2 * tail);
}

std::vector<std::size_t> ranked_by_median(const std::vector<std::vector<double>>& times) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return times[i].empty(); });
  std::vector<double> medians;
  for (const std::vector<double>& of : times) medians.push_back(median(of));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return medians[x] < medians[y]; });
  return order;
}

std::vector<bool> settled_neighbours(const std::vector<std::vector<double>>& times) {
  const std::vector<std::size_t> order = ranked_by_median(times);
  std::vector<bool> settled;
  for (std::size_t i = 1; i < order.size(); ++i) settled.push_back(sign_test(times[order[i - 1]], times[order[i]]) <= kSettled);
  return settled;
}

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  HEDDLE_ASSERT(a.size() == b.size(), "one number of each list for each contender");
  double agree = 0, ordered_a = 0, ordered_b = 0;
  const auto sign = [](double x, double y) { return (x > y) - (x < y); };
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const int in_a = sign(a[i], a[j]), in_b = sign(b[i], b[j]);
      agree += in_a * in_b, ordered_a += in_a * in_a, ordered_b += in_b * in_b;
    }
  if (ordered_a == 0 || ordered_b == 0) return std::nullopt;
  return agree / std::sqrt(ordered_a * ordered_b);
}

}  // namespace heddle
