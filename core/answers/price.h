// What each user constraint costs: the least II and the objectives after it, with all constraints and without that one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/answers/found_period.h"
#include "core/base/id.h"
#include "core/base/json.h"
#include "core/layout/choices.h"
#include "core/problem/problem.h"
#include "core/schedule/certificate.h"

namespace heddle {

/// The optimum under one set of constraints, as far as it is known.
struct PricedOptimum {
  Status status = Status::Unknown;  ///< Unknown: not decided, or not asked for lack of time
  std::optional<Cycle> ii;          ///< of the best schedule found
  Cycle lower_bound = 0;
  std::vector<ObjectiveValue> objectives;  ///< "ii" first
  std::string explanation;
  std::optional<int> bound_stages{};  ///< the bound speaks of schedules of at most so many stages; none: of all
  LayoutChoices layouts;              ///< that its schedule has, where layouts are open
  /// The least period under the same constraints, where a period decides (core/simulate/forecast.h); none: not asked, or not found in time.
  std::optional<FoundPeriod> period{};

  bool settled() const { return status == Status::Optimal || status == Status::Infeasible; }
  /// The value of an objective; nothing without a schedule.
  const ObjectiveValue* objective(const std::string& name) const {
    for (const ObjectiveValue& o : objectives)
      if (o.name == name) return &o;
    return nullptr;
  }
};

struct ConstraintPrice {
  std::string name;
  std::string demand;     ///< "pin S at 128"
  PricedOptimum without;  ///< all constraints but this one
};

struct Prices {
  PricedOptimum all, none;
  std::vector<ConstraintPrice> constraints;  ///< the enabled ones, in order; then what is said of layouts
  /// What is open in all these questions, as layout_claim() names it; empty: nothing. Where a layout is said, without it that is open too
  /// if it was to be left to the solver, else it is as by default.
  std::string layouts_open;
  /// Where there is no schedule, and none without any single constraint either: constraints without which there is one, and
  /// none of which can stay as it is when the others go. Indices into `constraints`; empty also when that was not decided.
  std::vector<std::size_t> give_up;
  PricedOptimum without_those;
  bool cancelled = false, timed_out = false;
  bool periods = false;  ///< they were asked for
  std::string solver;
  double seconds = 0;
  std::int64_t queries = 0, conflicts = 0;

  /// Every number is proved, apart from periods: what is known of each of those, it says itself.
  bool complete() const;
};

/// By how many cycles `dear` has a larger II than `cheap`: at least `least`, at most `most`. Nothing when one of them has no
/// schedule.
struct PriceRange {
  Cycle least = 0, most = 0;
  bool proved() const { return least == most; }
};
std::optional<PriceRange> price_in_cycles(const PricedOptimum& cheap, const PricedOptimum& dear);
/// By how many cycles its period is longer; nothing where one of them has none.
std::optional<double> price_in_period(const PricedOptimum& cheap, const PricedOptimum& dear);

// The prices of user constraints in words and a table.

/// "nothing", "128 cycles (2048 -> 2176), stages +1", "feasible without it": what one constraint costs.
std::string price_text(const PricedOptimum& without, const PricedOptimum& all);
/// The same of the period: "nothing", "53.2 cycles (2446.3 -> 2499.5)"; empty where it is not known.
std::string period_price_text(const PricedOptimum& without, const PricedOptimum& all);

std::string price_summary(const Problem& problem, const Prices& prices);

// The prices of user constraints as JSON. Written only.

/// {all, none, together, constraints [{name, demand, without, cycles}], give_up, without_those, complete, ...}; an optimum is {status, ii,
/// lower_bound, objectives, explanation}, cycles are {least, most, proved}, or null where one side has no schedule.
Json price_json(const Problem& problem, const Prices& prices);
Json price_schema();

}  // namespace heddle
