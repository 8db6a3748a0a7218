// Without any constraint first: its bound holds for all that follow, and its live model answers most of them.
#include "solver/questions/price.h"

#include <algorithm>

#include "core/answers/layout_choice.h"
#include "core/formats/constraints_json.h"
#include "solver/questions/least_order.h"
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

/// Of the time limit, for periods.
constexpr double kForPeriods = 0.25;

class Pricing {
 public:
  Pricing(const SolveRequest& request, std::stop_token stop, const PriceListener& listener, const LayoutsLeftOpen* layouts)
      : request_(request),
        stop_(std::move(stop)),
        listener_(listener),
        demands_(demands_of(request.constraints, layouts)),
        optima_(request, layouts) {
    prices_.solver = solver_version();
    for (const Demand& demand : demands_) prices_.constraints.push_back(row_of(demand));
  }

  Prices run(const KnownPrograms& known) {
    prices_.periods = known != nullptr;
    limit_ = request_.timeout_seconds * (prices_.periods ? 1 - kForPeriods : 1);
    price_ii();
    give_up();
    bool late = elapsed() >= limit_;
    if (prices_.periods) {
      limit_ = request_.timeout_seconds;
      price_periods(known);
      late |= elapsed() >= limit_;
    }
    prices_.layouts_open = optima_.open();
    prices_.seconds = elapsed();
    prices_.cancelled = stop_.stop_requested();
    prices_.timed_out = !prices_.cancelled && late;
    return std::move(prices_);
  }

 private:
  double elapsed() const { return seconds_between(begin_, Clock::now()); }
  Demands all_but(std::size_t i) const {
    Demands others = demands_;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    return others;
  }
  std::string without(std::size_t i) const { return "without " + prices_.constraints[i].demand; }

  PricedOptimum optimum(const Demands& of, const std::string& doing) {
    const double left = limit_ - elapsed();
    if (left <= 0 || stop_.stop_requested()) return {};
    if (listener_.asking) listener_.asking(doing);
    const SolveOutcome outcome = optima_.solve(of, left, stop_, listener_.solve);
    prices_.queries += outcome.queries;
    prices_.conflicts += outcome.conflicts;
    PricedOptimum found = optimum_of(outcome);
    found.layouts = optima_.choices();
    if (outcome.schedule) orders_.push_back({"the least II " + doing, *outcome.schedule});
    return found;
  }

  void price_ii() {
    prices_.none = optimum({}, "without any constraint");
    prices_.all = optimum(demands_, "with all constraints");
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      ConstraintPrice& price = prices_.constraints[i];
      price.without = optimum(all_but(i), without(i));
      if (listener_.priced && price.without.status != Status::Unknown) listener_.priced(price);
    }
  }

  /// Where no single constraint is to blame: constraint by constraint, whatever can be kept is kept.
  void give_up() {
    const bool helpless = prices_.all.status == Status::Infeasible && prices_.none.ii &&
                          std::all_of(prices_.constraints.begin(), prices_.constraints.end(),
                                      [](const ConstraintPrice& price) { return price.without.status == Status::Infeasible; });
    if (!helpless) return;
    Demands kept;
    std::vector<std::size_t> gone;
    prices_.without_those = prices_.none;
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      kept.push_back(demands_[i]);
      const PricedOptimum with = optimum(kept, "with " + prices_.constraints[i].demand);
      if (with.status != Status::Infeasible && !with.ii) return;  // not decided
      if (with.ii) {
        prices_.without_those = with;
      } else {
        kept.pop_back();
        gone.push_back(i);
      }
    }
    prices_.give_up = gone;
  }

  /// Under all constraints first: what is found under some is an order to begin with under fewer.
  void price_periods(const KnownPrograms& known) {
    for (programs::KnownProgram& order : known(stop_)) orders_.push_back(std::move(order));
    asked_left_ = demands_.size() + 2;
    prices_.all.period = period(demands_, "with all constraints");
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      prices_.constraints[i].without.period = period(all_but(i), without(i));
      if (listener_.priced && prices_.constraints[i].without.period) listener_.priced(prices_.constraints[i]);
    }
    prices_.none.period = period({}, "without any constraint");
  }

  std::optional<FoundPeriod> period(const Demands& of, const std::string& doing) {
    const double left = (limit_ - elapsed()) / static_cast<double>(asked_left_--);
    if (left <= 0 || stop_.stop_requested()) return std::nullopt;
    if (listener_.asking) listener_.asking("the least period " + doing);
    Constraints constraints;
    for (const Demand& demand : of) constraints.push_back(demand.constraint);
    auto found = least_under({request_.problem, constraints, orders_, left, request_.seed}, stop_, listener_.programs);
    if (!found) return std::nullopt;
    if (found->period.from.empty()) orders_.push_back({"the least period " + doing, std::move(found->schedule)});
    return std::move(found->period);
  }

  const SolveRequest& request_;
  std::stop_token stop_;
  const PriceListener& listener_;
  const Clock::time_point begin_ = Clock::now();
  const Demands demands_;
  Optima optima_;
  Prices prices_;
  double limit_ = 0;                            ///< of the part that is asked now, from the beginning
  std::vector<programs::KnownProgram> orders_;  ///< known so far
  std::size_t asked_left_ = 0;                  ///< periods
};

}  // namespace

Prices price_constraints(const SolveRequest& request, std::stop_token stop, const PriceListener& listener, const LayoutsLeftOpen* layouts,
                         const KnownPrograms& known) {
  return Pricing(request, std::move(stop), listener, layouts).run(layouts ? KnownPrograms() : known);
}

}  // namespace heddle::solver
