// What the tuner learns with: Gaussian process, expected improvement, forest, features.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>

#include "solver/tune/features.h"
#include "solver/tune/forest.h"
#include "solver/tune/gaussian_process.h"
#include "solver/tune/random.h"
#include "solver/tune/surrogate.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

double matern_by_hand(double r) { return (1 + std::sqrt(5.0) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5.0) * r); }

GpData two_points() {
  GpData data;
  data.columns = 1;
  data.parameter_of = {0};
  data.x = {0, 1};
  data.y = {1, -1};
  return data;
}

}  // namespace

TEST_CASE("a Gaussian process of two points is what a 2 x 2 system says", "[solver]") {
  GpHyper hyper;
  hyper.length = {std::log(0.7)};
  hyper.signal = std::log(1.5);
  hyper.noise = std::log(0.01);
  const GaussianProcess process(two_points(), hyper);
  const double k0 = 1.5, k1 = 1.5 * matern_by_hand(1 / 0.7), d = k0 + 0.01, determinant = d * d - k1 * k1;
  // a = K^-1 y with y = (1, -1)
  const double a = (d + k1) / determinant;
  for (const double x : {-0.3, 0.0, 0.25, 0.5, 2.0}) {
    const double left = 1.5 * matern_by_hand(std::abs(x) / 0.7), right = 1.5 * matern_by_hand(std::abs(x - 1) / 0.7);
    const double explained = (d * (left * left + right * right) - 2 * k1 * left * right) / determinant;
    const auto predicted = process.predict({x});
    CHECK(predicted[0].mean == Approx(a * left - a * right).margin(1e-9));
    CHECK(predicted[0].deviation == Approx(std::sqrt(1.5 - explained)).epsilon(1e-6));
  }
  // -1/2 y'a - 1/2 log |K| - n/2 log 2 pi, and the prior of the one length: 0.3 log l - 0.1 l.
  const double likelihood = -0.5 * 2 * a - 0.5 * std::log(determinant) - std::log(2 * 3.14159265358979323846);
  CHECK(gp_log_posterior(two_points(), hyper) == Approx(likelihood + 0.3 * std::log(0.7) - 0.1 * 0.7));
}

TEST_CASE("the gradient of the likelihood is that of finite differences", "[solver]") {
  TuneRandom random(7);
  GpData data;
  data.columns = 4;
  data.parameter_of = {0, 1, 1, 2};
  for (int i = 0; i < 9; ++i) {
    for (int c = 0; c < 4; ++c) data.x.push_back(random.unit());
    data.y.push_back(random.normal());
    data.noise.push_back(i % 3 ? 0 : 0.05);
  }
  GpHyper hyper;
  hyper.length = {-0.4, 0.3, 0.9};
  hyper.signal = 0.2;
  hyper.noise = -3;
  std::vector<double> gradient;
  gp_log_posterior(data, hyper, &gradient);
  REQUIRE(gradient.size() == 5);
  const auto at = [&](std::size_t i) -> double& { return i < 3 ? hyper.length[i] : i == 3 ? hyper.signal : hyper.noise; };
  for (std::size_t i = 0; i < 5; ++i) {
    const double before = at(i), step = 1e-5;
    at(i) = before + step;
    const double above = gp_log_posterior(data, hyper);
    at(i) = before - step;
    const double below = gp_log_posterior(data, hyper);
    at(i) = before;
    CHECK(gradient[i] == Approx((above - below) / (2 * step)).epsilon(1e-4).margin(1e-6));
  }
}

TEST_CASE("a fitted process finds what matters, is repeatable, and survives equal points", "[solver]") {
  TuneRandom random(3);
  GpData data;
  data.columns = 2;
  data.parameter_of = {0, 1};
  for (int i = 0; i < 25; ++i) {
    const double x = random.unit();
    data.x.insert(data.x.end(), {x, random.unit()});
    data.y.push_back(std::sin(7 * x));
  }
  const GaussianProcess process = GaussianProcess::fit(data, 1);
  CHECK(process.hyper().length[0] < process.hyper().length[1]);
  CHECK(process.predict({0.4, 0.9})[0].mean == Approx(std::sin(2.8)).margin(0.05));
  CHECK(process.hyper().length == GaussianProcess::fit(data, 1).hyper().length);
  GpData same = two_points();
  same.x = {0.5, 0.5};
  same.y = {1, 1};
  CHECK(std::isfinite(GaussianProcess::fit(same, 1).predict({0.5})[0].mean));
  CHECK(GaussianProcess::fit({1, {0}, {}, {}, {}}, 1).predict({0.1})[0].mean == 0);
}

TEST_CASE("expected improvement is what sampling says, and ends at the bound", "[solver]") {
  TuneRandom random(11);
  for (const auto& [best, mean, deviation, bound] :
       {std::array<double, 4>{0, 0.5, 1, -HUGE_VAL}, {0, 0.5, 1, -0.3}, {2, -1, 0.5, -1.2}, {0, 3, 0.7, -5}}) {
    double sum = 0;
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) sum += std::max(0.0, best - std::max(bound, mean + deviation * random.normal()));
    CHECK(expected_improvement(best, mean, deviation, bound) == Approx(sum / kDraws).epsilon(0.03).margin(2e-4));
  }
  CHECK(expected_improvement(1, 0, 1, 1) == 0);
  CHECK(expected_improvement(1, 0.25, 0, -HUGE_VAL) == Approx(0.75));
}

TEST_CASE("a forest learns where things fail", "[solver]") {
  TuneRandom random(5);
  std::vector<double> rows;
  std::vector<char> feasible;
  for (int i = 0; i < 120; ++i) {
    const double x = random.unit(), y = random.unit();
    rows.insert(rows.end(), {x, y, random.unit()});
    feasible.push_back(!(x > 0.6 && y > 0.5));
  }
  const auto forest = FeasibilityForest::fit(3, rows, feasible, 1);
  const double good[] = {0.2, 0.8, 0.5}, bad[] = {0.9, 0.9, 0.5};
  CHECK(forest.probability(good) > 0.95);
  CHECK(forest.probability(bad) < 0.1);
  CHECK(forest.probability(bad) == FeasibilityForest::fit(3, rows, feasible, 1).probability(bad));
  CHECK(FeasibilityForest::fit(1, {1, 1}, {1, 0}, 1).probability(good) == Approx(0.8));  // nothing tells the two apart: weights
  CHECK(FeasibilityForest().probability(good) == 1);
}

TEST_CASE("each kind of parameter has distances of its own", "[solver]") {
  SearchSpace space;
  Parameter tile, word, order, real;
  tile.values = {16, 32, 256};
  tile.log = true;
  word.kind = ParameterKind::Categorical;
  word.words = {"a", "b", "c"};
  order.kind = ParameterKind::Permutation;
  order.words = {"i", "j", "k"};
  real.kind = ParameterKind::Real;
  real.least = -1;
  real.most = 3;
  space.parameters = {tile, word, order, real};
  CHECK(feature_map(space).parameter_of == std::vector<std::size_t>{0, 1, 1, 1, 2, 2, 2, 3});
  std::vector<double> x, y;
  append_features(space, {1, 0, 0, 0}, x);
  append_features(space, {2, 2, 5, 3}, y);
  CHECK(x[0] == Approx(0.25));  // 32 is a quarter of the way from 16 to 256 in logarithms
  double words = 0, ranks = 0;
  for (int c = 1; c < 4; ++c) words += (x[c] - y[c]) * (x[c] - y[c]);
  for (int c = 4; c < 7; ++c) ranks += (x[c] - y[c]) * (x[c] - y[c]) * 9;
  CHECK(words == Approx(1));
  CHECK(ranks == Approx(8));  // i j k against k j i: displacements 2, 0, 2
  CHECK(x[7] == Approx(0.25));
}
