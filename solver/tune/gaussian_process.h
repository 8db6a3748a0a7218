// A Gaussian process with a Matern-5/2 kernel, one length-scale per parameter, and hyper-parameters fitted by maximum a posteriori.
//
//   r^2 = sum over columns of (difference / length of the column's parameter)^2
//   k   = s^2 (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)
//   log likelihood = -1/2 y' a - sum log L_ii - n/2 log 2 pi,   K + noise = L L',   a = K^-1 y
//
// (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and 5.) Priors as in BaCO's published settings:
// Gamma(1.3, rate 0.1) on each length-scale; starts are drawn at random, the most likely ones are climbed. A point may carry noise of its
// own: a value that is known to lie in an interval only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace heddle::solver {

struct GpData {
  std::size_t columns = 0;
  std::vector<std::size_t> parameter_of;  ///< per column; parameters are numbered from 0 without gaps
  std::vector<double> x;                  ///< row after row
  std::vector<double> y;                  ///< zero mean, unit variance, or near it
  std::vector<double> noise;              ///< variance of each point on top of the common one

  std::size_t points() const { return y.size(); }
  std::size_t parameters() const;
};

/// Logarithms of lengths (per parameter), signal variance, noise variance.
struct GpHyper {
  std::vector<double> length;
  double signal = 0, noise = -9;
};

/// The logarithm of likelihood times priors, and its derivative by each number of `hyper` in order. Minus infinity where the matrix is no
/// longer positive definite.
double gp_log_posterior(const GpData& data, const GpHyper& hyper, std::vector<double>* gradient = nullptr);

struct GpPrediction {
  double mean = 0, deviation = 0;  ///< of the function, without noise
};

class GaussianProcess {
 public:
  /// Same data and seed, same process. Nothing fitted where there are no points: mean 0, deviation 1.
  static GaussianProcess fit(GpData data, std::uint64_t seed);
  /// With these hyper-parameters as they are.
  GaussianProcess(GpData data, GpHyper hyper);

  /// Of rows laid out as in GpData.
  std::vector<GpPrediction> predict(const std::vector<double>& x) const;
  const GpHyper& hyper() const { return hyper_; }

 private:
  struct Factors;
  GpData data_;
  GpHyper hyper_;
  std::shared_ptr<const Factors> factors_;
};

}  // namespace heddle::solver
