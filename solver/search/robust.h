// A schedule of least II whose order stands uncertain numbers: the least II is proved for the numbers as they are; orders come from
// solving the problem for harder numbers, moved back; what each is worth says the simulator, over all samples.
#pragma once

#include <stop_token>
#include <vector>

#include "solver/search/solve.h"

namespace heddle::solver {

/// solve() for requests with uncertain numbers. The outcome's bound and certificate speak of II; its other objectives are values of the
/// chosen schedule, and not proved. Pre: request.uncertain.
SolveOutcome solve_robustly(const SolveRequest& request, std::stop_token stop, const SolveListener& listener);

/// Other programs for the request's problem, of at most this II: orders that solving for harder numbers gives, moved back. What takes
/// longer than the request's time limit is left out. Pre: request.uncertain.
std::vector<Schedule> robust_orders(const SolveRequest& request, Cycle most_ii, const std::stop_token& stop, const SolveListener& listener);

}  // namespace heddle::solver
