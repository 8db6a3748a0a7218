// Without any constraint first: its bound holds for all that follow, and its live model answers most of them.
#include "solver/questions/price.h"

#include <algorithm>

#include "core/answers/layout_choice.h"
#include "core/formats/constraints_json.h"
#include "solver/search/warm.h"
#include "solver/z3/backend.h"

namespace heddle::solver {
namespace {

/// What is priced: a constraint, or what is said of one value's layout or one op's instruction.
struct Demand {
  UserConstraint constraint;
  LayoutChoices said;
};
using Demands = std::vector<Demand>;

Demands demands_of(const Constraints& constraints, const LayoutsLeftOpen* layouts) {
  Demands demands;
  for (const UserConstraint& c : constraints)
    if (c.enabled) demands.push_back({c, {}});
  if (!layouts) return demands;
  for (const auto& choice : layouts->said.layouts) demands.emplace_back().said.layouts.insert(choice);
  for (const auto& choice : layouts->said.instructions) demands.emplace_back().said.instructions.insert(choice);
  return demands;
}

ConstraintPrice row_of(const Demand& demand) {
  if (demand.said.empty()) return {demand.constraint.name, describe(demand.constraint), {}};
  return {choices_in_words(demand.said), choices_in_words(demand.said), {}};
}

PricedOptimum optimum_of(const SolveOutcome& outcome) {
  PricedOptimum optimum;
  optimum.status = outcome.status;
  if (outcome.schedule) optimum.ii = outcome.schedule->ii;
  optimum.lower_bound = outcome.lower_bound;
  optimum.objectives = outcome.objectives;
  optimum.explanation = outcome.explanation;
  optimum.bound_stages = outcome.bound_stages;
  return optimum;
}

/// One optimum after the other.
class Optima {
 public:
  Optima(const SolveRequest& request, const LayoutsLeftOpen* layouts) : request_(request), layouts_(layouts) {
    if (!layouts) warm_.emplace(request);
  }

  SolveOutcome solve(const Demands& demands, double seconds, std::stop_token stop, const SolveListener& listener) {
    Constraints constraints;
    LayoutChoices said;
    for (const Demand& demand : demands)
      if (demand.said.empty())
        constraints.push_back(demand.constraint);
      else
        said = merged(std::move(said), demand.said);
    if (!layouts_) {
      warm_->set_timeout(seconds);
      return warm_->solve(constraints, stop, listener);
    }
    Result<OpenLayouts> open = layouts_->open(said);
    if (!open || !open->complete) {
      choices_ = {};
      SolveOutcome none;
      none.status = Status::Invalid;
      none.explanation = open ? "there are more layouts than are looked at: say some" : to_string(open.error());
      return none;
    }
    SolveRequest request = request_;
    request.constraints = std::move(constraints);
    request.timeout_seconds = seconds;
    request.ii.reset();
    ChosenLayouts chosen = choose_layouts(*std::move(open), layouts_->resolve, std::move(request), stop, listener);
    choices_ = chosen.outcome.schedule ? chosen.choices : LayoutChoices{};
    if (open_.empty() && !chosen.question.decisions.empty()) open_ = open_layouts_text(chosen.question);
    return std::move(chosen.outcome);
  }

  const LayoutChoices& choices() const { return choices_; }  ///< of the last one
  const std::string& open() const { return open_; }          ///< of the first one that left something open

 private:
  const SolveRequest& request_;
  const LayoutsLeftOpen* layouts_;
  std::optional<WarmSolver> warm_;
  LayoutChoices choices_;
  std::string open_;
};

}  // namespace

Prices price_constraints(const SolveRequest& request, std::stop_token stop, const PriceListener& listener, const LayoutsLeftOpen* layouts) {
  const auto begin = Clock::now();
  const auto elapsed = [&] { return seconds_between(begin, Clock::now()); };
  Prices prices;
  prices.solver = solver_version();
  const Demands demands = demands_of(request.constraints, layouts);
  for (const Demand& demand : demands) prices.constraints.push_back(row_of(demand));

  Optima optima(request, layouts);
  const auto optimum = [&](const Demands& of, const std::string& doing) {
    const double left = request.timeout_seconds - elapsed();
    if (left <= 0 || stop.stop_requested()) return PricedOptimum{};
    if (listener.asking) listener.asking(doing);
    const SolveOutcome outcome = optima.solve(of, left, stop, listener.solve);
    prices.queries += outcome.queries;
    prices.conflicts += outcome.conflicts;
    PricedOptimum found = optimum_of(outcome);
    found.layouts = optima.choices();
    return found;
  };
  prices.none = optimum({}, "without any constraint");
  prices.all = optimum(demands, "with all constraints");
  for (std::size_t i = 0; i < demands.size(); ++i) {
    Demands others = demands;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    prices.constraints[i].without = optimum(others, "without " + prices.constraints[i].demand);
    if (listener.priced && prices.constraints[i].without.status != Status::Unknown) listener.priced(prices.constraints[i]);
  }
  const bool helpless = prices.all.status == Status::Infeasible && prices.none.ii &&
                        std::all_of(prices.constraints.begin(), prices.constraints.end(),
                                    [](const ConstraintPrice& price) { return price.without.status == Status::Infeasible; });
  if (helpless) {
    // Constraint by constraint, whatever can be kept is kept.
    Demands kept;
    std::vector<std::size_t> gone;
    prices.without_those = prices.none;
    bool decided = true;
    for (std::size_t i = 0; i < demands.size() && decided; ++i) {
      kept.push_back(demands[i]);
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
  prices.layouts_open = optima.open();
  prices.seconds = elapsed();
  prices.cancelled = stop.stop_requested();
  prices.timed_out = !prices.cancelled && prices.seconds >= request.timeout_seconds;
  return prices;
}

}  // namespace heddle::solver
