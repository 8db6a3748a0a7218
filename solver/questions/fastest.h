// The default answer: of the orders at hand the one of least period; where no period decides, the one that is predicted to be the fastest.
//
// II comes first, with its proof, and says nothing about which of its orders is fast. So the solver's schedule is compared with the orders
// that numbers which are off lead to (solver/search/robust.h), with every heuristic's, and with those that the caller knows (hand
// schedules); and, where a machine's contention is known, with the program of least period (least_order.h), so that a certificate can say
// of which programs the chosen one is the least. A prediction chooses; nothing is claimed to be the fastest on a GPU.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/simulate/forecast.h"
#include "core/simulate/uncertain.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct KnownOrder {
  std::string name;  ///< "fa3"
  Schedule schedule;
  std::optional<Forecast> forecast{};  ///< where the caller has it already
};

/// What has to be read or worked out before orders can be compared.
struct OrderSources {
  std::vector<KnownOrder> orders;                     ///< of the request's problem; those that break a rule are left out
  std::shared_ptr<const UncertainNumbers> uncertain;  ///< for more orders of the solver's own; null: no more of them
  std::string inputs;                                 ///< names what they were made from, for whoever keeps answers
};

struct TimeChoice {
  std::function<std::optional<Forecast>(const Problem&, const Schedule&, const std::stop_token&)>
      predict;                            ///< from several threads at once
  std::function<OrderSources()> sources;  ///< called where orders are compared or kept ones looked up; empty: none
  std::vector<KnownOrder> orders;         ///< more of them
  bool heuristics = true;                 ///< false: they are among the orders
  bool programs = true;                   ///< also the program of least period, where that is what is predicted
  /// Whether a kernel can be written of it; empty: that is not asked. The fastest of which it can is chosen.
  std::function<bool(const Problem&, const Schedule&)> can_be_written;
  std::string inputs;  ///< names what predictions depend on beside the problem, as OrderSources::inputs does
};

/// A quarter of the time limit is kept for the choice.
inline double seconds_for_choice(const SolveRequest& request) { return request.timeout_seconds / 4; }

/// solve(), and then choose_by_time() where the request has a `by_time`.
SolveOutcome solve_for_time(const SolveRequest& request, std::stop_token stop = {}, const SolveListener& listener = {});

/// Puts the order of least predicted time into an outcome of the request: of equals the one of fewer cycles, which differ where
/// DRAM sets the time, then of the smaller II, then the one it had. Bound
/// and proof of II stay; `outcome.fastest` says what was compared, the schedule's certificate what is known of its period. The outcome
/// stays as it is where nothing can be predicted, where it has no schedule (or one op after the other, or one of an II that was asked for),
/// and when stopped. Takes seconds_for_choice() at most. Pre: request.by_time.
void choose_by_time(const SolveRequest& request, SolveOutcome& outcome, const std::stop_token& stop = {},
                    const SolveListener& listener = {});

}  // namespace heddle::solver
