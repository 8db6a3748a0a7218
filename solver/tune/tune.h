// Search for the best configuration of a space, when one evaluation is dear: constrained Bayesian optimisation after BaCO (Hellsten et al.,
// ASPLOS 2023), with random search, exhaustive search and a bandit over simple techniques (OpenTuner, Ansel et al., PACT 2014) to compare
// it with.
//
// What only a search with exact models inside can have: a proved lower bound for every configuration. A configuration whose bound is no
// better than the best value is excluded, with proof; the surrogate learns the logarithm of value / bound, in which most of the structure
// is already; expected improvement ends at the bound. Values that are known to lie in an interval only (the solver ran out of time) enter
// with the uncertainty that they have.
//
// Nothing here knows kernels: an evaluator is a function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/base/deadline.h"
#include "core/records/tuning.h"
#include "core/tuning_space/tree.h"

namespace heddle::solver {

/// What is known without evaluating.
struct TuneFacts {
  bool feasible = true;         ///< by the known constraints that are no expressions
  std::optional<double> bound;  ///< proved: the value is not below
  std::optional<double> scale;  ///< not proved: the value is thought to go with this
};

struct TuneRequest {
  const ChainOfTrees* space = nullptr;
  /// Cheap; empty: nothing is known. Asked once per configuration.
  std::function<TuneFacts(const Config&)> known;
  /// Fills fidelity, status, value, bound and what else there is to say; the rest is the search's. `beat`: a value that is not to be
  /// reached any more; an evaluation that is proved to stay at or above it may stop and say Pruned.
  std::function<TuneEvaluation(const Config&, std::optional<double> beat, const std::stop_token&)> evaluate;
  /// A guess from a cheaper rung, to choose among promising candidates; may be empty, and may answer nothing.
  std::function<std::optional<double>(const Config&)> screen;
  /// Configurations that a finished evaluation answers too (a cap that its schedule keeps anyway); may be empty. They count as excluded.
  std::function<std::vector<Config>(const TuneEvaluation&)> same;
  TuneMethod method = TuneMethod::Baco;
  std::uint64_t seed = 0;
  std::int64_t budget = 60;  ///< evaluations, besides `done`
  Deadline deadline;         ///< for everything; `stop` is to be requested then too, so that it ends an evaluation
  bool from_default = true;  ///< the default configuration first
  // Each can be taken away, to see what it is worth.
  bool prune = true;                 ///< exclude by bounds
  bool ratio = true;                 ///< learn the ratio to the bound
  std::vector<TuneEvaluation> done;  ///< of earlier sessions: the search goes on as if it had not been interrupted
  std::int64_t numbered = 0;         ///< numbers that are given already, if more than `done`
};

/// Configurations up to this number are listed one by one, with what is known of each.
inline constexpr std::int64_t kMostListed = 8192;

/// After every evaluation, complete with number, best, excluded and open.
using TuneListener = std::function<void(const TuneEvaluation&)>;

struct TuneStart {
  std::optional<std::int64_t> configurations, known_feasible;
  std::optional<double> lower_bound;
};

/// Never throws. The same request gives the same answer, but for time limits; one that is cut into sessions by `done` too. `began` is
/// called once, when what can be known beforehand is known.
TuneEnd tune(const TuneRequest& request, std::stop_token stop = {}, const TuneListener& listener = {},
             const std::function<void(const TuneStart&)>& began = {});

}  // namespace heddle::solver
