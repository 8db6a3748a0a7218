// Bayesian optimisation: a few samples, then the best of the acquisition, over all open configurations where they are listed, else by local
// search from the best of many samples.
#include <algorithm>
#include <set>

#include "solver/tune/propose.h"
#include "solver/tune/surrogate.h"

namespace heddle::solver {
namespace {

constexpr std::size_t kSamples = 1000, kClimbs = 10, kScreened = 5, kSampleChoice = 8;
constexpr std::size_t kBoundedSamples = 2;  // where bounds say most of it already
constexpr int kMostSteps = 40;
constexpr double kNearlyAsGood = 0.2;  // share of the best acquisition that still takes part in screening

struct Scored {
  double score = 0;
  Config config;
};

bool better(const Scored& a, const Scored& b) { return a.score != b.score ? a.score > b.score : a.config < b.config; }

std::vector<Scored> scored(TuneSurrogate& surrogate, std::vector<Config> configs) {
  const std::vector<double> scores = surrogate.scores(configs);
  std::vector<Scored> out;
  for (std::size_t i = 0; i < configs.size(); ++i) out.push_back({scores[i], std::move(configs[i])});
  std::sort(out.begin(), out.end(), better);
  return out;
}

/// Steepest ascent from each start; the tops, best first.
std::vector<Scored> climbed(TunePool& pool, TuneSurrogate& surrogate, const std::vector<Scored>& starts, TuneRandom& random) {
  std::set<Config> seen;
  std::vector<Scored> tops;
  for (Scored at : starts) {
    for (int step = 0; step < kMostSteps; ++step) {
      std::vector<Config> next = pool.neighbours(at.config, random);
      std::erase_if(next, [&](const Config& config) { return !pool.open(config); });
      if (next.empty()) break;
      std::vector<Scored> ranked = scored(surrogate, std::move(next));
      if (!better(ranked.front(), at)) break;
      at = std::move(ranked.front());
    }
    if (pool.open(at.config) && seen.insert(at.config).second) tops.push_back(std::move(at));
  }
  std::sort(tops.begin(), tops.end(), better);
  return tops;
}

/// The candidate that a cheaper rung likes best.
Config screened(const TuneRequest& request, std::vector<Config> candidates) {
  std::size_t chosen = 0;
  std::optional<double> least;
  for (std::size_t i = 0; request.screen && candidates.size() > 1 && i < candidates.size(); ++i) {
    const std::optional<double> guess = request.screen(candidates[i]);
    if (guess && (!least || *guess < *least)) least = guess, chosen = i;
  }
  return std::move(candidates[chosen]);
}

}  // namespace

std::optional<ConfigProposal> propose_by_model(const TuneRequest& request, TunePool& pool, TuneRandom& random) {
  // As many samples as BaCO's published settings take: parameters plus one. Where bounds are known fewer do, and of several draws the one
  // that its bound (or the cheaper rung) speaks for is taken.
  const bool bounded = request.ratio && pool.bounded();
  const std::size_t made = pool.evaluations().size(), all = pool.space().parameters.size() + 1,
                    first = bounded ? std::min(kBoundedSamples, all) : all;
  if (made < first || !pool.best()) {
    std::vector<Config> drawn;
    const bool choose = bounded;
    for (std::size_t k = 0; k < (request.screen || choose ? kSampleChoice : 1); ++k)
      if (auto config = pool.sample(random)) drawn.push_back(*std::move(config));
    if (drawn.empty()) return std::nullopt;
    if (choose && !request.screen)
      std::stable_sort(drawn.begin(), drawn.end(),
                       [&](const Config& a, const Config& b) { return pool.facts(a).bound.value_or(0) < pool.facts(b).bound.value_or(0); });
    return ConfigProposal{request.screen ? screened(request, std::move(drawn)) : std::move(drawn.front()), "sample"};
  }
  TuneSurrogate surrogate(pool, request.ratio, random.next(), static_cast<std::int64_t>(made));
  std::vector<Scored> ranked;
  if (pool.listed()) {
    ranked = scored(surrogate, pool.all_open());
  } else {
    std::set<Config> drawn;
    for (std::size_t k = 0; k < kSamples; ++k) {
      auto config = pool.sample(random);
      if (!config) break;
      drawn.insert(*std::move(config));
    }
    ranked = scored(surrogate, {drawn.begin(), drawn.end()});
    if (ranked.size() > kClimbs) ranked.resize(kClimbs);
    if (pool.best()) ranked.push_back({-1, pool.best()->config});
    ranked = climbed(pool, surrogate, ranked, random);
  }
  if (ranked.empty()) return std::nullopt;
  std::vector<Config> candidates{ranked.front().config};
  for (std::size_t i = 1; request.screen && i < ranked.size() && candidates.size() < kScreened; ++i)
    if (ranked[i].score >= kNearlyAsGood * ranked.front().score) candidates.push_back(ranked[i].config);
  return ConfigProposal{screened(request, std::move(candidates)), "model"};
}

}  // namespace heddle::solver
