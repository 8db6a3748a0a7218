// A bandit over simple techniques, after OpenTuner (Ansel et al., PACT 2014): the technique with the largest area under its recent curve of
// improvements, plus what speaks for trying rarely used ones, makes the next proposal.
#include <algorithm>
#include <array>
#include <cmath>

#include "solver/tune/propose.h"

namespace heddle::solver {
namespace {

enum Technique { kUniform, kMutateOne, kMutateSome, kCrossOver, kStep, kTechniques };
constexpr std::array<const char*, kTechniques> kNames{"bandit/uniform", "bandit/mutate-one", "bandit/mutate-some", "bandit/cross-over",
                                                      "bandit/step"};
constexpr std::size_t kBanditWindow = 50;  // OpenTuner's sliding window, shortened to budgets of tens
constexpr double kExploration = 0.05;      // OpenTuner's constant
constexpr int kBanditTries = 64;
constexpr std::size_t kParents = 5;

/// From what was proposed and what came of it.
Technique most_promising(const TunePool& pool, TuneRandom& random) {
  std::array<std::vector<char>, kTechniques> wins;
  std::optional<double> best;
  std::vector<std::pair<int, char>> uses;
  for (const TuneEvaluation& e : pool.evaluations()) {
    const bool won = e.value && (!best || *e.value < *best);
    if (won) best = e.value;
    for (int t = 0; t < kTechniques; ++t)
      if (e.by == kNames[static_cast<std::size_t>(t)]) uses.emplace_back(t, won);
  }
  const std::size_t begin = uses.size() > kBanditWindow ? uses.size() - kBanditWindow : 0;
  for (std::size_t i = begin; i < uses.size(); ++i) wins[static_cast<std::size_t>(uses[i].first)].push_back(uses[i].second);
  int chosen = 0;
  double highest = -1;
  const auto first = random.below(kTechniques);
  for (int k = 0; k < kTechniques; ++k) {
    const int t = static_cast<int>((first + k) % kTechniques);
    const auto& w = wins[static_cast<std::size_t>(t)];
    if (w.empty()) return static_cast<Technique>(t);
    double area = 0;
    for (std::size_t i = 0; i < w.size(); ++i) area += w[i] ? static_cast<double>(i + 1) : 0;
    const double n = static_cast<double>(w.size());
    const double score = area / (n * (n + 1) / 2) + kExploration * std::sqrt(2 * std::log2(static_cast<double>(uses.size() - begin)) / n);
    if (score > highest) highest = score, chosen = t;
  }
  return static_cast<Technique>(chosen);
}

double any_bandit_value(const Parameter& p, TuneRandom& random) {
  return p.finite() ? static_cast<double>(random.below(p.count())) : random.between(p.least, p.most);
}

}  // namespace

std::optional<ConfigProposal> propose_by_bandit(TunePool& pool, TuneRandom& random) {
  std::vector<const TuneEvaluation*> parents;
  for (const TuneEvaluation& e : pool.evaluations())
    if (e.value) parents.push_back(&e);
  std::stable_sort(parents.begin(), parents.end(), [](const auto* a, const auto* b) { return *a->value < *b->value; });
  if (parents.size() > kParents) parents.resize(kParents);
  const auto any_parent = [&] {
    return parents[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(parents.size())))]->config;
  };
  const auto& parameters = pool.space().parameters;
  const auto count = static_cast<std::int64_t>(parameters.size());
  const Technique technique = parents.empty() ? kUniform : most_promising(pool, random);
  for (int attempt = 0; technique != kUniform && attempt < kBanditTries; ++attempt) {
    Config config = parents.front()->config;
    switch (technique) {
      case kMutateOne: {
        const auto p = static_cast<std::size_t>(random.below(count));
        config[p] = any_bandit_value(parameters[p], random);
        break;
      }
      case kMutateSome:
        config = any_parent();
        for (std::size_t p = 0; p < parameters.size(); ++p)
          if (random.unit() < 0.3) config[p] = any_bandit_value(parameters[p], random);
        break;
      case kCrossOver: {
        config = any_parent();
        const Config other = any_parent();
        for (std::size_t p = 0; p < parameters.size(); ++p)
          if (random.unit() < 0.5) config[p] = other[p];
        if (attempt > kBanditTries / 2) {
          const auto p = static_cast<std::size_t>(random.below(count));
          config[p] = any_bandit_value(parameters[p], random);
        }
        break;
      }
      case kStep: {
        const auto next = pool.neighbours(attempt < kBanditTries / 2 ? parents.front()->config : any_parent(), random);
        if (!next.empty()) config = next[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(next.size())))];
        break;
      }
      default: break;
    }
    if (pool.space().parameters.size() == config.size() && pool.allowed(config) && pool.open(config))
      return ConfigProposal{std::move(config), kNames[technique]};
  }
  auto config = pool.sample(random);
  return config ? std::optional<ConfigProposal>({*std::move(config), kNames[technique]}) : std::nullopt;
}

}  // namespace heddle::solver
