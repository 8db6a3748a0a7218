// The only file that knows Eigen: Cholesky factors, gradients, a small BFGS.
#include "solver/tune/gaussian_process.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "solver/tune/random.h"

namespace heddle::solver {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kRootFive = 2.2360679774997896;
constexpr double kLeastVariance = 1e-11;
constexpr double kGammaShape = 1.3, kGammaRate = 0.1;
constexpr int kStarts = 24, kClimbed = 3, kSteps = 25;
constexpr double kWorst = -std::numeric_limits<double>::infinity();
// Of logarithms; beyond them nothing changes but the condition of the matrix.
constexpr double kLengthLow = -4.6, kLengthHigh = 5.5, kSignalLow = -5, kSignalHigh = 5, kNoiseLow = -14, kNoiseHigh = 0;

/// Squared differences of two rows, summed per parameter, each divided by its length squared.
double scaled_square(const GpData& data, const double* a, const double* b, const std::vector<double>& inverse, double* per_parameter) {
  double sum = 0;
  for (std::size_t c = 0; c < data.columns; ++c) {
    const double d = a[c] - b[c];
    const double part = d * d * inverse[data.parameter_of[c]];
    sum += part;
    if (per_parameter) per_parameter[data.parameter_of[c]] += part;
  }
  return sum;
}

std::vector<double> inverse_squares(const GpHyper& hyper) {
  std::vector<double> inverse;
  for (const double length : hyper.length) inverse.push_back(std::exp(-2 * length));
  return inverse;
}

double matern(double square, double signal) {
  const double r = std::sqrt(square);
  return signal * (1 + kRootFive * r + 5.0 / 3.0 * square) * std::exp(-kRootFive * r);
}

std::vector<double> flat(const GpHyper& hyper) {
  std::vector<double> v = hyper.length;
  v.push_back(hyper.signal);
  v.push_back(hyper.noise);
  return v;
}

GpHyper hyper_of(const Vector& v) {
  const auto n = static_cast<std::size_t>(v.size());
  GpHyper hyper;
  for (std::size_t i = 0; i + 2 < n; ++i) hyper.length.push_back(std::clamp(v[static_cast<Eigen::Index>(i)], kLengthLow, kLengthHigh));
  hyper.signal = std::clamp(v[static_cast<Eigen::Index>(n - 2)], kSignalLow, kSignalHigh);
  hyper.noise = std::clamp(v[static_cast<Eigen::Index>(n - 1)], kNoiseLow, kNoiseHigh);
  return hyper;
}

Vector vector_of(const std::vector<double>& v) { return Eigen::Map<const Vector>(v.data(), static_cast<Eigen::Index>(v.size())); }

/// Climbs from `start` by BFGS with halved steps.
std::pair<GpHyper, double> climb(const GpData& data, const GpHyper& start) {
  Vector at = vector_of(flat(start));
  std::vector<double> slope;
  double value = gp_log_posterior(data, hyper_of(at), &slope);
  if (!std::isfinite(value)) return {start, kWorst};
  const Eigen::Index n = at.size();
  Matrix inverse = Matrix::Identity(n, n);
  Vector g = vector_of(slope);
  for (int step = 0; step < kSteps; ++step) {
    Vector direction = inverse * g;
    if (direction.dot(g) <= 0) {
      inverse.setIdentity();
      direction = g;
    }
    const double longest = direction.cwiseAbs().maxCoeff();
    if (longest > 2) direction *= 2 / longest;
    double factor = 1;
    bool moved = false;
    for (int halving = 0; halving < 12; ++halving, factor /= 2) {
      const Vector next = vector_of(flat(hyper_of(at + factor * direction)));
      std::vector<double> next_slope;
      const double next_value = gp_log_posterior(data, hyper_of(next), &next_slope);
      if (!(next_value > value + 1e-4 * factor * direction.dot(g))) continue;
      const Vector next_g = vector_of(next_slope), s = next - at, y = g - next_g;
      const double curvature = s.dot(y);
      if (curvature > 1e-10) {
        const Matrix left = Matrix::Identity(n, n) - s * y.transpose() / curvature;
        inverse = (left * inverse * left.transpose() + s * s.transpose() / curvature).eval();
      }
      moved = next_value - value > 1e-5 * (1 + std::abs(value));
      at = next;
      value = next_value;
      g = next_g;
      break;
    }
    if (!moved) break;
  }
  return {hyper_of(at), value};
}

}  // namespace

struct GaussianProcess::Factors {
  Matrix lower;
  Vector weights;
};

std::size_t GpData::parameters() const {
  return parameter_of.empty() ? 0 : *std::max_element(parameter_of.begin(), parameter_of.end()) + 1;
}

double gp_log_posterior(const GpData& data, const GpHyper& hyper, std::vector<double>* gradient) {
  const std::size_t n = data.points(), parameters = hyper.length.size();
  const auto rows = static_cast<Eigen::Index>(n);
  const double signal = std::exp(hyper.signal), noise = std::exp(hyper.noise);
  const std::vector<double> inverse = inverse_squares(hyper);
  Matrix k(rows, rows), slope(rows, rows);
  std::vector<double> parts(gradient ? n * n * parameters : 0, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const auto r = static_cast<Eigen::Index>(i), c = static_cast<Eigen::Index>(j);
      double* part = gradient ? parts.data() + (i * n + j) * parameters : nullptr;
      const double square = scaled_square(data, data.x.data() + i * data.columns, data.x.data() + j * data.columns, inverse, part);
      const double root = kRootFive * std::sqrt(square), decay = std::exp(-root);
      k(r, c) = signal * (1 + root + 5.0 / 3.0 * square) * decay;
      slope(r, c) = signal * 5.0 / 3.0 * (1 + root) * decay;  // of k, by the logarithm of a length, but for that parameter's share of r^2
    }
  Matrix full = k.selfadjointView<Eigen::Lower>();
  for (std::size_t i = 0; i < n; ++i)
    full(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)) += noise + (data.noise.empty() ? 0 : data.noise[i]);
  const Eigen::LLT<Matrix> factor(full);
  if (factor.info() != Eigen::Success) return kWorst;
  const Vector y = vector_of(data.y);
  const Vector a = factor.solve(y);
  const Matrix lower = factor.matrixL();
  double value = -0.5 * y.dot(a) - 0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi);
  for (Eigen::Index i = 0; i < rows; ++i) value -= std::log(lower(i, i));
  for (const double length : hyper.length) value += (kGammaShape - 1) * length - kGammaRate * std::exp(length);
  if (!std::isfinite(value)) return kWorst;
  if (!gradient) return value;
  const Matrix w = a * a.transpose() - factor.solve(Matrix::Identity(rows, rows));
  gradient->assign(parameters + 2, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const auto r = static_cast<Eigen::Index>(i), c = static_cast<Eigen::Index>(j);
      const double weight = (i == j ? 0.5 : 1) * w(r, c);  // one half of the trace; both triangles
      const double* part = parts.data() + (i * n + j) * parameters;
      for (std::size_t p = 0; p < parameters; ++p) (*gradient)[p] += weight * slope(r, c) * part[p];
      (*gradient)[parameters] += weight * k(r, c);
      if (i == j) (*gradient)[parameters + 1] += weight * noise;
    }
  for (std::size_t p = 0; p < parameters; ++p) (*gradient)[p] += (kGammaShape - 1) - kGammaRate * std::exp(hyper.length[p]);
  return value;
}

GaussianProcess::GaussianProcess(GpData data, GpHyper hyper) : data_(std::move(data)), hyper_(std::move(hyper)) {
  const std::size_t n = data_.points();
  if (n == 0) return;
  const auto rows = static_cast<Eigen::Index>(n);
  const double signal = std::exp(hyper_.signal);
  const std::vector<double> inverse = inverse_squares(hyper_);
  Matrix k(rows, rows);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      k(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = k(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)) =
          matern(scaled_square(data_, data_.x.data() + i * data_.columns, data_.x.data() + j * data_.columns, inverse, nullptr), signal);
  for (std::size_t i = 0; i < n; ++i)
    k(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)) += std::exp(hyper_.noise) + (data_.noise.empty() ? 0 : data_.noise[i]);
  // Equal points without noise of their own leave no room for rounding: more noise until there is.
  for (double jitter = 1e-10 * signal;; jitter *= 10) {
    const Eigen::LLT<Matrix> factor(k);
    if (factor.info() == Eigen::Success) {
      auto factors = std::make_shared<Factors>();
      factors->lower = factor.matrixL();
      factors->weights = factor.solve(vector_of(data_.y));
      factors_ = std::move(factors);
      return;
    }
    k.diagonal().array() += jitter;
  }
}

GaussianProcess GaussianProcess::fit(GpData data, std::uint64_t seed) {
  const std::size_t parameters = data.parameters();
  GpHyper usual;
  usual.length.assign(parameters, std::log(0.5));
  if (data.points() < 2) return GaussianProcess(std::move(data), std::move(usual));
  TuneRandom random(seed, 1);
  std::vector<std::pair<double, GpHyper>> starts{{gp_log_posterior(data, usual), usual}};
  const double ten = std::log(10.0);
  for (int s = 0; s < kStarts; ++s) {
    GpHyper hyper;
    for (std::size_t p = 0; p < parameters; ++p) hyper.length.push_back(ten * random.between(-1, 1));
    hyper.signal = ten * random.between(-1, 1);
    hyper.noise = ten * random.between(-5, -2);
    const double value = gp_log_posterior(data, hyper);
    starts.emplace_back(value, std::move(hyper));
  }
  std::stable_sort(starts.begin(), starts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::pair<GpHyper, double> best{usual, kWorst};
  for (std::size_t s = 0; s < std::min<std::size_t>(kClimbed, starts.size()); ++s) {
    auto found = climb(data, starts[s].second);
    if (found.second > best.second) best = std::move(found);
  }
  return GaussianProcess(std::move(data), std::move(best.first));
}

std::vector<GpPrediction> GaussianProcess::predict(const std::vector<double>& x) const {
  const std::size_t columns = data_.columns, n = data_.points(), m = columns ? x.size() / columns : 0;
  const double signal = std::exp(hyper_.signal);
  std::vector<GpPrediction> out(m, {0, std::sqrt(signal)});
  if (n == 0 || m == 0) return out;
  const std::vector<double> inverse = inverse_squares(hyper_);
  constexpr std::size_t kBlock = 512;
  for (std::size_t begin = 0; begin < m; begin += kBlock) {
    const std::size_t size = std::min(kBlock, m - begin);
    Matrix k(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(size));
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t i = 0; i < n; ++i)
        k(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
            matern(scaled_square(data_, data_.x.data() + i * columns, x.data() + (begin + j) * columns, inverse, nullptr), signal);
    const Vector mean = k.transpose() * factors_->weights;
    factors_->lower.triangularView<Eigen::Lower>().solveInPlace(k);
    for (std::size_t j = 0; j < size; ++j) {
      const auto c = static_cast<Eigen::Index>(j);
      out[begin + j] = {mean[c], std::sqrt(std::max(kLeastVariance, signal - k.col(c).squaredNorm()))};
    }
  }
  return out;
}

}  // namespace heddle::solver
