#include "solver/search/robust.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/retime.h"
#include "core/base/deadline.h"
#include "core/check/certify.h"
#include "core/check/checker.h"
#include "solver/encoding/registers.h"
#include "solver/search/objectives.h"

namespace heddle::solver {
namespace {

/// So many samples are solved for their orders: the hardest, the easiest, and some between.
constexpr std::size_t kSolved = 4;

class RobustSearch {
 public:
  RobustSearch(const SolveRequest& request, std::stop_token stop, const SolveListener& listener)
      : request_(request), numbers_(*request.uncertain), stop_(std::move(stop)), listener_(listener), deadline_(request.timeout_seconds) {}

  SolveOutcome run() {
    SolveRequest plain = request_;
    plain.uncertain.reset();
    SolveOutcome outcome = solve(plain, stop_, listener_);
    if (!outcome.schedule || outcome.serial || outcome.cancelled || numbers_.samples.empty()) return outcome;
    const Cycle least = outcome.schedule->ii;
    orders_.push_back(*outcome.schedule);
    learn_all(request_.ii ? least : least + least * request_.within_percent / 100);
    choose(outcome, least);
    return outcome;
  }

  std::vector<Schedule> orders(Cycle most_ii) {
    learn_all(most_ii);
    return std::move(orders_);
  }

 private:
  bool over() const { return stop_.stop_requested() || deadline_.passed(); }

  void learn_all(Cycle most_ii) {
    for (std::size_t k = 0; k < kSolved && k < numbers_.samples.size() && !over(); ++k)
      learn(numbers_.samples[k * (numbers_.samples.size() - 1) / std::max<std::size_t>(1, kSolved - 1)], most_ii);
  }

  /// The orders of a schedule for these numbers, as far as they keep the limit for the numbers as they are.
  void learn(const Problem& sample, Cycle most_ii) {
    SolveRequest other = request_;
    other.uncertain.reset();
    other.problem = sample;
    other.ii.reset();
    other.objectives = {Objective::Stages};
    other.timeout_seconds = deadline_.left() / 2;
    other.known_bound = 0;
    other.incumbent.reset();
    other.cutoff.reset();
    other.explain = false;
    const SolveOutcome found = solve(other, stop_);
    if (listener_)
      listener_(LogLine{fmt::format("with numbers that are off: {}", found.schedule ? fmt::format("II {}", found.schedule->ii) : "none")});
    if (!found.schedule) return;
    for (Schedule& moved : retimings(request_.problem, *found.schedule)) {
      if (request_.ii) moved.ii = std::max(moved.ii, *request_.ii);
      normalize_starts(moved);
      set_register_budgets(request_.problem, moved);
      if (moved.ii > most_ii || !check(request_.problem, moved, request_.constraints).valid()) continue;
      if (std::none_of(orders_.begin(), orders_.end(), [&](const Schedule& known) { return same_program(known, moved); }))
        orders_.push_back(std::move(moved));
    }
  }

  void choose(SolveOutcome& outcome, Cycle least) {
    RobustChoice choice;
    choice.least_ii = least;
    std::size_t best = 0;
    for (std::size_t k = 0; k < orders_.size(); ++k) {
      const PeriodSpread spread = period_spread(numbers_, orders_[k], stop_);
      if (k == 0) choice.shortest = choice.chosen = spread;
      if (spread.mean <= 0) continue;
      ++choice.orders;
      const bool better = choice.chosen.mean <= 0 || spread.mean + spread.high < choice.chosen.mean + choice.chosen.high;
      if (k > 0 && better) best = k, choice.chosen = spread;
    }
    outcome.robust = choice;
    if (best > 0) {
      orders_[best].name = fmt::format("robust II {}", orders_[best].ii);
      orders_[best].provenance = {
          "solver", "heddle",
          fmt::format("{}; of {} orders the one that stands wrong numbers best: {:.0f} cycles an iteration in the "
                      "mean, {:.0f} at the 95th percentile, the first order {:.0f} and {:.0f} (predicted)",
                      outcome.solver, choice.orders, choice.chosen.mean, choice.chosen.high, choice.shortest.mean, choice.shortest.high)};
      outcome.schedule = orders_[best];
      const bool proved = outcome.schedule->ii == outcome.lower_bound;
      outcome.objectives = {{"ii", outcome.schedule->ii, proved}};
      for (const Objective o : request_.objectives)
        outcome.objectives.push_back({to_string(o), objective_value(request_.problem, *outcome.schedule, o), false});
      outcome.status = proved ? Status::Optimal : Status::Feasible;
      certify(request_.problem, request_.constraints, outcome);
      if (listener_) listener_(Incumbent{*outcome.schedule});
    }
    outcome.cancelled = outcome.cancelled || stop_.stop_requested();
    outcome.seconds.total = request_.timeout_seconds - deadline_.left();
  }

  const SolveRequest& request_;
  const UncertainNumbers& numbers_;
  const std::stop_token stop_;
  const SolveListener& listener_;
  const Deadline deadline_;
  std::vector<Schedule> orders_;
};

}  // namespace

SolveOutcome solve_robustly(const SolveRequest& request, std::stop_token stop, const SolveListener& listener) {
  return RobustSearch(request, std::move(stop), listener).run();
}

std::vector<Schedule> robust_orders(const SolveRequest& request, Cycle most_ii, const std::stop_token& stop,
                                    const SolveListener& listener) {
  return RobustSearch(request, stop, listener).orders(most_ii);
}

}  // namespace heddle::solver
