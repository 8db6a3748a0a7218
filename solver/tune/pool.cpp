#include "solver/tune/pool.h"

#include <algorithm>
#include <cmath>

namespace heddle::solver {
namespace {

constexpr int kSampleTries = 2000;
constexpr std::size_t kAllPermutations = 5;  // items up to which every other arrangement is a neighbour
constexpr double kRealStep = 0.05;

}  // namespace

TunePool::TunePool(const TuneRequest& request, const std::stop_token& stop) : request_(request) {
  const ChainOfTrees& tree = *request.space;
  listed_ = !tree.has_reals() && tree.size() <= kMostListed;
  for (std::int64_t n = 0; listed_ && n < tree.size(); ++n) configs_.push_back(tree.at(n));
  for (std::size_t i = 0; i < configs_.size(); ++i) {
    if ((i & 63) == 0 && stop.stop_requested()) {
      listed_ = false;
      configs_.clear();
      alive_.clear();
      break;
    }
    facts_of_.push_back(&facts(configs_[i]));
    if (!facts_of_.back()->feasible) continue;
    alive_.push_back(i);
    ++possible_;
    bounded_ = bounded_ && facts_of_.back()->bound;
  }
  for (const TuneEvaluation& e : request.done) record(e);
}

const TuneFacts& TunePool::facts(const Config& config) {
  const auto found = facts_.find(config);
  if (found != facts_.end()) return found->second;
  return facts_.emplace(config, request_.known ? request_.known(config) : TuneFacts{}).first->second;
}

bool TunePool::open(const Config& config) {
  if (evaluated_.count(config) || answered_.count(config)) return false;
  const TuneFacts& known = facts(config);
  return known.feasible && !hopeless(known);
}

std::vector<Config> TunePool::all_open() const {
  std::vector<Config> out;
  for (const std::size_t i : alive_) out.push_back(configs_[i]);
  return out;
}

std::optional<Config> TunePool::sample(TuneRandom& random) {
  if (listed_) {
    if (alive_.empty()) return std::nullopt;
    return configs_[alive_[static_cast<std::size_t>(random.below(open_count()))]];
  }
  const ChainOfTrees& tree = *request_.space;
  for (int attempt = 0; attempt < kSampleTries; ++attempt) {
    Config config = tree.at(random.below(std::max<std::int64_t>(1, tree.size())));
    for (std::size_t p = 0; p < config.size(); ++p)
      if (const Parameter& parameter = space().parameters[p]; !parameter.finite()) {
        const double u = random.unit();
        config[p] = parameter.log ? parameter.least * std::pow(parameter.most / parameter.least, u)
                                  : parameter.least + u * (parameter.most - parameter.least);
      }
    if (open(config)) return config;
  }
  return std::nullopt;
}

std::vector<Config> TunePool::neighbours(const Config& config, TuneRandom& random) const {
  std::vector<Config> out;
  const auto offer = [&](std::size_t p, double value) {
    Config next = config;
    next[p] = value;
    if (request_.space->contains(next)) out.push_back(std::move(next));
  };
  for (std::size_t p = 0; p < config.size(); ++p) {
    const Parameter& parameter = space().parameters[p];
    const auto index = static_cast<std::int64_t>(config[p]);
    switch (parameter.kind) {
      case ParameterKind::Real:
        for (int k = 0; k < 6; ++k)
          offer(p,
                std::clamp(config[p] + kRealStep * (parameter.most - parameter.least) * random.normal(), parameter.least, parameter.most));
        break;
      case ParameterKind::Integer:
      case ParameterKind::Ordinal: {
        // The next allowed value each way, which may be far where constraints are about divisibility.
        for (const int step : {-1, 1}) {
          const std::size_t before = out.size();
          for (std::int64_t v = index + step; v >= 0 && v < parameter.count() && out.size() == before && std::abs(v - index) <= 256;
               v += step)
            offer(p, static_cast<double>(v));
        }
        break;
      }
      case ParameterKind::Categorical:
        for (std::int64_t v = 0; v < parameter.count(); ++v)
          if (v != index) offer(p, static_cast<double>(v));
        break;
      case ParameterKind::Permutation: {
        const std::size_t items = parameter.words.size();
        if (items <= kAllPermutations) {
          for (std::int64_t v = 0; v < parameter.count(); ++v)
            if (v != index) offer(p, static_cast<double>(v));
          break;
        }
        std::vector<std::size_t> order = arrangement(index, items);
        for (std::size_t i = 0; i < items; ++i)
          for (std::size_t j = i + 1; j < items; ++j) {
            std::swap(order[i], order[j]);
            offer(p, static_cast<double>(arrangement_number(order)));
            std::swap(order[i], order[j]);
          }
        break;
      }
    }
  }
  return out;
}

void TunePool::record(const TuneEvaluation& evaluation) {
  evaluated_[evaluation.config] = evaluations_.size();
  evaluations_.push_back(evaluation);
  std::set<Config> gone{evaluation.config};
  if (request_.same)
    for (Config& config : request_.same(evaluation)) gone.insert(std::move(config));
  answered_.insert(gone.begin(), gone.end());
  if (evaluation.value && (!best() || *evaluation.value < *best()->value)) best_ = evaluations_.size() - 1;
  std::erase_if(alive_, [&](std::size_t i) { return hopeless(*facts_of_[i]) || gone.count(configs_[i]) > 0; });
}

TuneStart TunePool::start() {
  TuneStart start;
  if (!request_.space->has_reals()) start.configurations = request_.space->size();
  if (!listed_) return start;
  std::int64_t feasible = 0;
  bool all = true;
  for (const Config& config : configs_) {
    const TuneFacts& known = facts(config);
    if (!known.feasible) continue;
    ++feasible;
    if (!known.bound)
      all = false;
    else if (!start.lower_bound || *known.bound < *start.lower_bound)
      start.lower_bound = known.bound;
  }
  start.known_feasible = feasible;
  if (!all) start.lower_bound.reset();
  return start;
}

std::int64_t TunePool::excluded() const {
  const auto evaluated = std::count_if(evaluations_.begin(), evaluations_.end(), [&](const TuneEvaluation& e) {
    const auto known = facts_.find(e.config);
    return known != facts_.end() && known->second.feasible;
  });
  return possible_ - open_count() - evaluated;
}

bool TunePool::settled() {
  if (!best()) return false;
  const double value = *best()->value;
  return std::all_of(configs_.begin(), configs_.end(), [&](const Config& config) {
    const TuneFacts& known = facts(config);
    if (!known.feasible || (known.bound && *known.bound >= value)) return true;
    const auto found = evaluated_.find(config);
    if (found == evaluated_.end()) return answered_.count(config) > 0;
    const TuneEvaluation& e = evaluations_[found->second];
    // Cheaper rungs give what they give; the solver may have found more with more time.
    return e.fidelity < Fidelity::Solver || e.status == TuneStatus::Optimal || e.status == TuneStatus::Infeasible ||
           e.status == TuneStatus::Refused || e.status == TuneStatus::Pruned || (e.bound && *e.bound >= value);
  });
}

}  // namespace heddle::solver
