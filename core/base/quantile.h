// Medians of measured numbers.
#pragma once

#include <algorithm>
#include <vector>

namespace heddle {

/// The number below which this fraction of them lies, between two of them in proportion; 0 of none.
inline double quantile(std::vector<double> numbers, double fraction) {
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  const double at = fraction * static_cast<double>(numbers.size() - 1);
  const std::size_t below = static_cast<std::size_t>(at);
  const double rest = at - static_cast<double>(below);
  return below + 1 < numbers.size() ? numbers[below] * (1 - rest) + numbers[below + 1] * rest : numbers[below];
}
inline double median(const std::vector<double>& numbers) { return quantile(numbers, 0.5); }

}  // namespace heddle
