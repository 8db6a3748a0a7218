// The prices of user constraints as JSON. Written only.
#pragma once

#include "core/answers/price.h"
#include "core/base/json.h"
#include "core/problem/problem.h"

namespace heddle {

/// {all, none, together, constraints [{name, demand, without, cycles}], give_up, without_those, complete, ...}; an optimum is {status, ii, lower_bound,
/// objectives, explanation}, cycles are {least, most, proved}, or null where one side has no schedule.
Json price_json(const Problem& problem, const Prices& prices);

}  // namespace heddle
