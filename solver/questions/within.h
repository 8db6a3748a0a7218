// Where latencies are not always the same: the least shared memory that keeps the expected period within some percent of the least II.
//
// The latency that a schedule is made for rises through the listed values, and each is solved once, as any problem is; the orders that
// come of it differ, and so do the ring depths that they need to be legal. For each order the least depths from there whose upper end of
// the bracket is low enough are found by core/analysis/least_depths.h. Solver and checker know nothing of it.
#pragma once

#include <functional>
#include <stop_token>

#include "core/answers/within.h"
#include "core/base/result.h"
#include "core/problem/changes.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct WithinRequest {
  SolveRequest solve;  ///< its problem's latencies vary; its time is for everything together
  int percent = 1;
  /// The same problem with more changes.
  std::function<Result<Problem>(const Changes&)> problem_at;
  /// Answers a request; default: solve().
  std::function<SolveOutcome(const SolveRequest&)> answer{};
};

/// The percentage is of what is proved of II at the shortest latencies, which is its lower bound where it was not settled.
WithinAnswer within(const WithinRequest& request, const std::stop_token& stop = {}, const SolveListener& listener = {});

}  // namespace heddle::solver
