// The closed forms.
#include "solver/tune/improvement.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heddle::solver {

double expected_shortfall(double target, double mean, double deviation) {
  if (std::isinf(target)) return target < 0 ? 0 : target;
  if (deviation <= 0) return std::max(0.0, target - mean);
  const double z = (target - mean) / deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return std::max(0.0, deviation * (z * below + density));
}

double expected_improvement(double best, double mean, double deviation, double bound) {
  if (bound >= best) return 0;
  // max(best - max(Y, b), 0) = max(best - Y, 0) - max(b - Y, 0) for b <= best.
  return std::max(0.0, expected_shortfall(best, mean, deviation) - expected_shortfall(bound, mean, deviation));
}

}  // namespace heddle::solver
