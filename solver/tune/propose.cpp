#include "solver/tune/propose.h"

namespace heddle::solver {

std::optional<ConfigProposal> propose_in_order(const TuneRequest& request, TunePool& pool) {
  if (request.space->has_reals()) return std::nullopt;
  for (std::int64_t n = 0; n < request.space->size(); ++n) {
    Config config = request.space->at(n);
    if (pool.open(config)) return ConfigProposal{std::move(config), "exhaustive"};
  }
  return std::nullopt;
}

std::optional<ConfigProposal> propose(const TuneRequest& request, TunePool& pool) {
  const std::size_t made = pool.evaluations().size();
  TuneRandom random(request.seed, made + 1);
  if (made == 0 && request.from_default && request.method != TuneMethod::Exhaustive)
    if (Config config = default_config(pool.space()); request.space->contains(config) && pool.open(config))
      return ConfigProposal{std::move(config), "default"};
  switch (request.method) {
    case TuneMethod::Exhaustive: return propose_in_order(request, pool);
    case TuneMethod::Bandit: return propose_by_bandit(pool, random);
    case TuneMethod::Baco: return propose_by_model(request, pool, random);
    case TuneMethod::Random: break;
  }
  auto config = pool.sample(random);
  return config ? std::optional<ConfigProposal>({*std::move(config), "random"}) : std::nullopt;
}

}  // namespace heddle::solver
