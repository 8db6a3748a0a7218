// Differences of numbers that may be known only from one side.
#include "core/answers/price.h"

#include <algorithm>

namespace heddle {
namespace {

bool proved(const PricedOptimum& optimum) {
  return optimum.settled() &&
         std::all_of(optimum.objectives.begin(), optimum.objectives.end(), [](const ObjectiveValue& o) { return o.proved; });
}

}  // namespace

bool Prices::complete() const {
  return proved(all) && proved(none) &&
         std::all_of(constraints.begin(), constraints.end(), [](const ConstraintPrice& price) { return proved(price.without); });
}

std::optional<PriceRange> price_in_cycles(const PricedOptimum& cheap, const PricedOptimum& dear) {
  if (!cheap.ii || !dear.ii) return {};
  // Fewer constraints never make II larger.
  return PriceRange{std::max<Cycle>(0, dear.lower_bound - *cheap.ii), std::max<Cycle>(0, *dear.ii - cheap.lower_bound)};
}

}  // namespace heddle
