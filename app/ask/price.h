// What each demand costs: put to the solver, and told.
#pragma once

#include <algorithm>
#include <stop_token>
#include <string>

#include "app/ask/ending.h"
#include "core/answers/price.h"
#include "core/schedule/constraints.h"

namespace heddle::app {

/// What is said of layouts is a demand too.
inline bool has_price(const Constraints& constraints, const LayoutChoices& choices) {
  return !choices.empty() || std::any_of(constraints.begin(), constraints.end(), [](const UserConstraint& c) { return c.enabled; });
}

Prices ask_price(const Subject& subject, std::stop_token stop, const Listener<Prices>& listener);
Ended ended(const Prices& prices);
std::string told(const Subject& subject, const Prices& prices, const Telling& how);

}  // namespace heddle::app
