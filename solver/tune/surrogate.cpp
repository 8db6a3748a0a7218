// What is modelled are logarithms of the values, relative to bounds where there are any, standardised.
#include "solver/tune/surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace heddle::solver {

namespace {

constexpr std::size_t kMostPoints = 300;
constexpr double kMargin = 1e-4;          // of one deviation: what is no improvement
constexpr double kPriorStrength = 10;     // piBO (Hvarfner et al., ICLR 2022), as BaCO sets it
constexpr double kBehindAllOthers = 1e6;  // no improvement of a logarithm is as large
constexpr double kLeastSpread = 1e-3;     // of logarithms: values within a tenth of a percent are alike

struct Learned {
  const TuneEvaluation* evaluation = nullptr;
  double y = 0, deviation = 0;  ///< of its own
};

}  // namespace

TuneSurrogate::TuneSurrogate(TunePool& pool, bool ratio, std::uint64_t seed, std::int64_t round)
    : pool_(pool), ratio_(ratio), round_(std::max<std::int64_t>(1, round)), map_(feature_map(pool.space())) {
  const SearchSpace& space = pool.space();
  if (pool.best()) best_ = std::log(*pool.best()->value);
  TuneRandom random(seed, 3);
  least_probability_ = 0.01 * static_cast<double>(random.below(11));
  std::vector<Learned> learned;
  for (const TuneEvaluation& e : pool.evaluations()) {
    const double below = base(e.config);
    if (e.value) {
      // Not proved: the value of the configuration lies between its bound and what was found.
      const double open = e.status == TuneStatus::Feasible && e.fidelity >= Fidelity::Solver && e.bound && *e.bound > 0
                              ? std::log(*e.value / *e.bound) / 4
                              : 0;
      learned.push_back({&e, std::log(*e.value) - below - open, open});
    } else if (e.status == TuneStatus::Pruned && e.bound && *e.bound > 0) {
      learned.push_back({&e, std::log(*e.bound) - below, 0.02});
    } else {
      continue;
    }
  }
  if (learned.size() > kMostPoints) {
    std::vector<Learned> kept(learned.end() - kMostPoints / 2, learned.end());
    learned.resize(learned.size() - kMostPoints / 2);
    std::stable_sort(learned.begin(), learned.end(), [](const Learned& a, const Learned& b) { return a.y < b.y; });
    kept.insert(kept.end(), learned.begin(), learned.begin() + kMostPoints / 2);
    learned = std::move(kept);
  }
  GpData data;
  data.columns = map_.columns();
  data.parameter_of = map_.parameter_of;
  double square = 0;
  for (const Learned& l : learned) mean_ += l.y / static_cast<double>(learned.size());
  for (const Learned& l : learned) square += (l.y - mean_) * (l.y - mean_) / static_cast<double>(learned.size());
  spread_ = std::max(kLeastSpread, std::sqrt(square));
  for (const Learned& l : learned) {
    append_features(space, l.evaluation->config, data.x);
    data.y.push_back((l.y - mean_) / spread_);
    data.noise.push_back(l.deviation * l.deviation / (spread_ * spread_));
  }
  if (!learned.empty()) process_ = GaussianProcess::fit(std::move(data), seed);

  std::vector<double> rows;
  std::vector<char> feasible;
  for (const TuneEvaluation& e : pool.evaluations()) {
    append_features(space, e.config, rows);
    // Without a schedule in time it is as useless as one that fails, whatever it might be.
    feasible.push_back(e.value || e.status == TuneStatus::Pruned);
  }
  if (std::find(feasible.begin(), feasible.end(), 0) != feasible.end())
    forest_ = FeasibilityForest::fit(map_.columns(), rows, feasible, seed);
}

double TuneSurrogate::base(const Config& config) {
  if (!ratio_) return 0;
  const TuneFacts& facts = pool_.facts(config);
  const std::optional<double> scale = facts.bound ? facts.bound : facts.scale;
  return scale && *scale > 0 ? std::log(*scale) : 0;
}

double TuneSurrogate::prior(const Config& config) const {
  double product = 1;
  const SearchSpace& space = pool_.space();
  for (std::size_t p = 0; p < config.size(); ++p) {
    const std::vector<double>& weights = space.parameters[p].prior;
    if (weights.empty()) continue;
    const double sum = *std::max_element(weights.begin(), weights.end());
    product *= weights[static_cast<std::size_t>(config[p])] / sum;
  }
  return product;
}

std::vector<double> TuneSurrogate::scores(const std::vector<Config>& configs) {
  std::vector<double> rows, out(configs.size(), 0);
  for (const Config& config : configs) append_features(pool_.space(), config, rows);
  const std::vector<GpPrediction> predicted = process_ ? process_->predict(rows) : std::vector<GpPrediction>(configs.size(), {0, 1});
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const double below = base(configs[i]), mean = mean_ + spread_ * predicted[i].mean + below, deviation = spread_ * predicted[i].deviation;
    const TuneFacts& facts = pool_.facts(configs[i]);
    const double bound = facts.bound && *facts.bound > 0 ? std::log(*facts.bound) : -std::numeric_limits<double>::infinity();
    // Without any value yet: where something feasible may be.
    double score = best_ ? expected_improvement(*best_ - kMargin * spread_, mean, deviation, bound) : 1;
    const double probability = forest_ ? forest_->probability(rows.data() + i * map_.columns()) : 1;
    score *= probability;
    const double weight = prior(configs[i]);
    if (weight < 1) score *= std::pow(weight + 1e-6, kPriorStrength / static_cast<double>(round_));
    if (probability < least_probability_) score -= kBehindAllOthers;
    out[i] = score;
  }
  return out;
}

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
