// Which configurations are left: known infeasible, evaluated, excluded by proof, or open.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "solver/tune/random.h"
#include "solver/tune/tune.h"

namespace heddle::solver {

class TunePool {
 public:
  TunePool(const TuneRequest& request, const std::stop_token& stop);

  const SearchSpace& space() const { return request_.space->space(); }
  /// Every configuration has its facts; else they are asked for when needed.
  bool listed() const { return listed_; }
  bool bounded() const { return listed_ && bounded_; }  ///< and every possible one has a lower bound
  const std::vector<Config>& all() const { return configs_; }

  const TuneFacts& facts(const Config& config);
  bool allowed(const Config& config) const { return request_.space->contains(config); }  ///< by the expressions
  /// Satisfies all other known constraints, is not evaluated, and may still win.
  bool open(const Config& config);
  std::vector<Config> all_open() const;                                                 ///< Pre: listed()
  std::int64_t open_count() const { return static_cast<std::int64_t>(alive_.size()); }  ///< Pre: listed()
  /// Uniform over the open ones; nothing when there are none, or none was found in many tries.
  std::optional<Config> sample(TuneRandom& random);
  /// A step away in one parameter and allowed by the space: other values of a categorical one, next values up and down of an ordered one,
  /// swaps of a permutation, small normal steps of a real one.
  std::vector<Config> neighbours(const Config& config, TuneRandom& random) const;

  void record(const TuneEvaluation& evaluation);
  const std::vector<TuneEvaluation>& evaluations() const { return evaluations_; }
  const TuneEvaluation* best() const { return best_ ? &evaluations_[*best_] : nullptr; }

  TuneStart start();
  std::int64_t excluded() const;  ///< by bounds, or answered by others; Pre: listed()
  /// No configuration can be better than the best one; Pre: listed().
  bool settled();

 private:
  bool hopeless(const TuneFacts& facts) const { return request_.prune && best() && facts.bound && *facts.bound >= *best()->value; }

  const TuneRequest& request_;
  bool listed_ = false, bounded_ = true;
  std::vector<Config> configs_;
  std::vector<const TuneFacts*> facts_of_;  ///< of configs_
  std::vector<std::size_t> alive_;          ///< those of configs_ that are open
  std::int64_t possible_ = 0;               ///< of configs_, by what was known beforehand
  std::map<Config, TuneFacts> facts_;
  std::map<Config, std::size_t> evaluated_;
  std::set<Config> answered_;  ///< by an evaluation of another configuration
  std::vector<TuneEvaluation> evaluations_;
  std::optional<std::size_t> best_;
};

}  // namespace heddle::solver
