// Without any constraint first: its bound holds for all that follow, and its live model answers most of them.
#include "solver/questions/price.h"

#include <algorithm>

#include "core/formats/constraints_json.h"
#include "solver/search/warm.h"
#include "solver/z3/backend.h"

namespace heddle::solver {
namespace {

PricedOptimum optimum_of(const SolveOutcome& outcome) {
  PricedOptimum optimum;
  optimum.status = outcome.status;
  if (outcome.schedule) optimum.ii = outcome.schedule->ii;
  optimum.lower_bound = outcome.lower_bound;
  optimum.objectives = outcome.objectives;
  optimum.explanation = outcome.explanation;
  return optimum;
}

}  // namespace

Prices price_constraints(const SolveRequest& request, std::stop_token stop, const PriceListener& listener) {
  const auto begin = Clock::now();
  const auto elapsed = [&] { return seconds_between(begin, Clock::now()); };
  Prices prices;
  prices.solver = solver_version();
  Constraints enabled;
  for (const UserConstraint& c : request.constraints)
    if (c.enabled) enabled.push_back(c);
  for (const UserConstraint& c : enabled) prices.constraints.push_back({c.name, describe(c), {}});

  WarmSolver warm(request);
  const auto optimum = [&](const Constraints& constraints, const std::string& doing) {
    const double left = request.timeout_seconds - elapsed();
    if (left <= 0 || stop.stop_requested()) return PricedOptimum{};
    if (listener.asking) listener.asking(doing);
    warm.set_timeout(left);
    const SolveOutcome outcome = warm.solve(constraints, stop, listener.solve);
    prices.queries += outcome.queries;
    prices.conflicts += outcome.conflicts;
    return optimum_of(outcome);
  };
  prices.none = optimum({}, "without any constraint");
  prices.all = optimum(enabled, "with all constraints");
  for (std::size_t i = 0; i < enabled.size(); ++i) {
    Constraints others = enabled;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    prices.constraints[i].without = optimum(others, "without " + prices.constraints[i].demand);
    if (listener.priced && prices.constraints[i].without.status != Status::Unknown) listener.priced(prices.constraints[i]);
  }
  const bool helpless = prices.all.status == Status::Infeasible && prices.none.ii &&
                        std::all_of(prices.constraints.begin(), prices.constraints.end(),
                                    [](const ConstraintPrice& price) { return price.without.status == Status::Infeasible; });
  if (helpless) {
    // Constraint by constraint, whatever can be kept is kept.
    Constraints kept;
    std::vector<std::size_t> gone;
    prices.without_those = prices.none;
    bool decided = true;
    for (std::size_t i = 0; i < enabled.size() && decided; ++i) {
      kept.push_back(enabled[i]);
      const PricedOptimum with = optimum(kept, "with " + prices.constraints[i].demand);
      decided = with.status == Status::Infeasible || with.ii;
      if (with.ii) {
        prices.without_those = with;
      } else {
        kept.pop_back();
        gone.push_back(i);
      }
    }
    if (decided) prices.give_up = gone;
  }
  prices.seconds = elapsed();
  prices.cancelled = stop.stop_requested();
  prices.timed_out = !prices.cancelled && prices.seconds >= request.timeout_seconds;
  return prices;
}

}  // namespace heddle::solver
