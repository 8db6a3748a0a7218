// The prices of user constraints in words and a table.
#pragma once

#include <string>

#include "core/answers/price.h"
#include "core/problem/problem.h"

namespace heddle {

/// "nothing", "128 cycles (2048 -> 2176), stages +1", "feasible without it": what one constraint costs.
std::string price_text(const PricedOptimum& without, const PricedOptimum& all);

std::string price_summary(const Problem& problem, const Prices& prices);

}  // namespace heddle
