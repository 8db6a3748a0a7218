// What the evaluations so far say about the others: expected improvement times probability of being feasible.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "solver/tune/features.h"
#include "solver/tune/forest.h"
#include "solver/tune/gaussian_process.h"
#include "solver/tune/pool.h"

namespace heddle::solver {

class TuneSurrogate {
 public:
  /// Learns from everything in the pool. `round` counts proposals: priors of the space fade with it.
  TuneSurrogate(TunePool& pool, bool ratio, std::uint64_t seed, std::int64_t round);

  /// The acquisition of each; larger is better.
  std::vector<double> scores(const std::vector<Config>& configs);

 private:
  double base(const Config& config);
  double prior(const Config& config) const;

  TunePool& pool_;
  bool ratio_;
  std::int64_t round_;
  FeatureMap map_;
  std::optional<GaussianProcess> process_;
  std::optional<FeasibilityForest> forest_;
  std::optional<double> best_;    ///< logarithm of the best value
  double mean_ = 0, spread_ = 1;  ///< of what the process learned
  double least_probability_ = 0;
};

// Expected improvement of a value of which a model knows mean and deviation, and arithmetic a lower bound.

/// E[max(target - Y, 0)] for Y normal with this mean and deviation.
double expected_shortfall(double target, double mean, double deviation);

/// E[max(best - max(Y, bound), 0)]: what evaluating is expected to gain when Y can be no less than `bound`. Without a bound pass minus
/// infinity.
double expected_improvement(double best, double mean, double deviation, double bound);

}  // namespace heddle::solver
