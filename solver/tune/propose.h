// Which configuration to evaluate next, by each method. A proposal depends on the evaluations so far, their number and the seed, and on
// nothing else: a search that goes on from its history does what it would have done.
#pragma once

#include <optional>
#include <string>

#include "solver/tune/pool.h"

namespace heddle::solver {

struct ConfigProposal {
  Config config;
  std::string by;  ///< for the history
};

/// Nothing: no candidate is left, or none was found.
std::optional<ConfigProposal> propose(const TuneRequest& request, TunePool& pool);

// One per method.
std::optional<ConfigProposal> propose_by_model(const TuneRequest& request, TunePool& pool, TuneRandom& random);
std::optional<ConfigProposal> propose_by_bandit(TunePool& pool, TuneRandom& random);
std::optional<ConfigProposal> propose_in_order(const TuneRequest& request, TunePool& pool);

}  // namespace heddle::solver
