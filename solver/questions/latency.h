// How far one op's latency may change before a schedule breaks, and the least II as a step function of that latency.
//
// II is monotone in the latency (core/answers/latency.h), so latencies are settled by bisection: two latencies with the
// same proved II settle everything between them, and so do two whose II differ by as much as they do themselves, because II never
// grows faster than the latency (core/analysis/stretch.h). A latency costs a query only where arithmetic below (the lower bounds, what
// smaller latencies have proved) and schedules above (those of larger latencies, and retimed ones) do not meet.
#pragma once

#include <functional>
#include <stop_token>

#include "core/answers/latency.h"
#include "core/base/result.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct LatencyRequest {
  SolveRequest solve;  ///< the present problem; its objectives choose the schedule whose range is asked for
  OpId op;
  /// The problem with this latency of the op; answers the same for the same latency.
  std::function<Result<Problem>(Cycle)> problem_at;
  Cycle from = 0, to = 0;            ///< of the step function; 0 <= from <= to
  std::optional<Schedule> schedule;  ///< whose range is asked for instead of the optimum's; it has passed the checker
};

using LatencyListener = std::function<void(const LatencyRange&)>;

/// A latency that is not always the same is taken as the constant one that schedules are made for. Never throws; a stop request or the time
/// limit ends it with what is known, marked as such.
LatencyRange latency_range(const LatencyRequest& request, std::stop_token stop = {}, const LatencyListener& grown = {});

}  // namespace heddle::solver
