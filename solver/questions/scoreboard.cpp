#include "solver/questions/scoreboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/analysis/bounds.h"
#include "core/base/clock.h"
#include "core/base/deadline.h"
#include "core/base/stop_after.h"
#include "core/formats/choices_json.h"
#include "solver/baselines/greedy_layouts.h"
#include "solver/questions/fastest.h"

namespace heddle::solver {
namespace {

Contender solver_contender(const SolveOutcome& outcome) {
  Contender c;
  c.name = "solver";
  c.kind = ContenderKind::Solver;
  c.about = "found by Heddle's solver: smallest II, then fewest stages, warps, least memory and registers";
  if (const auto& choice = outcome.fastest)
    c.about = fmt::format("Heddle's default: of {} orders the one that is predicted to be fastest, {}", choice->orders,
                          choice->from == "solver" ? std::string("the solver's own") : "that of " + choice->from);
  c.schedule = outcome.schedule;
  if (c.schedule && c.schedule->certificate && c.schedule->certificate->period)
    c.about += "; " + period_sentence(*c.schedule->certificate->period, c.schedule->ii);
  c.status = outcome.status;
  if (!c.schedule) c.why_not = outcome.explanation.empty() ? "none found in time" : outcome.explanation;
  return c;
}

/// "tawa", or "tawa:D=4" where options were chosen.
std::string name_of(const BaselineChoice& choice) {
  std::string name = choice.baseline->name;
  char before = ':';
  for (const auto& [option, value] : choice.settings) {
    name += fmt::format("{}{}={}", before, option, value);
    before = ',';
  }
  return name;
}

Contender baseline_contender(const Problem& problem, const BaselineChoice& choice, double timeout_seconds, std::stop_token stop) {
  Contender c;
  c.name = name_of(choice);
  c.kind = ContenderKind::Baseline;
  c.about = fmt::format("{} ({})", choice.baseline->about, choice.baseline->source);
  Result<BaselineOutcome> outcome = run_baseline(problem, *choice.baseline, choice.settings, timeout_seconds, std::move(stop));
  if (!outcome) {
    c.why_not = to_string(outcome.error());
    return c;
  }
  c.log = std::move(outcome->log);
  c.schedule = std::move(outcome->schedule);
  return c;
}

class Board {
 public:
  Board(const ScoreboardRequest& request, std::stop_token stop, const ScoreboardListener& settled, const SolveListener& listener)
      : request_(request), stop_(std::move(stop)), settled_(settled), listener_(listener) {}

  Scoreboard make() {
    const Bounds bounds = compute_bounds(request_.layouts ? easiest_of_all(*request_.layouts) : problem());
    board_.lower_bound = bounds.min_ii();
    // Sums of a unit bound II; the evaluator, which knows only which two uses exclude each other, may find a shorter period.
    for (const Op& op : problem().ops)
      for (const UnitUse& use : op.uses) board_.bound_on_ii |= use.in_sum > use.duration || problem().units[use.unit.index()].capacity > 1;
    board_.why = bounds.sentence;
    board_.solver = solver_version();
    for (const Contender& given : request_.given) add(given);
    for (const BaselineChoice& choice : request_.baselines) {
      if (stop_.stop_requested()) break;
      if (deadline_.passed()) {
        Contender late;
        late.name = name_of(choice);
        late.kind = ContenderKind::Baseline;
        late.about = choice.baseline->about;
        late.why_not = "no time was left for it";
        board_.timed_out = true;
        add(std::move(late));
        continue;
      }
      if (listener_) listener_(Progress{choice.baseline->name, 0, 0, 0, seconds_between(begin_, Clock::now())});
      const StopAfter in_time(stop_, deadline_.left());
      add(baseline_contender(problem(), choice, deadline_.left() / 2,
                             in_time.token()));  // one that searches leaves something to the others
    }
    if (request_.layouts)
      for (const LayoutBaseline& baseline : layout_baselines())
        if (!stop_.stop_requested()) add_layouts(baseline);
    if (request_.optimum && !stop_.stop_requested()) solve_it();
    board_.cancelled = board_.cancelled || stop_.stop_requested();
    board_.seconds = seconds_between(begin_, Clock::now());
    return std::move(board_);
  }

 private:
  const Problem& problem() const { return request_.solve.problem; }

  void add(Contender contender) { add(std::move(contender), problem()); }
  void add(Contender contender, const Problem& of) {
    Contender done = measured(of, request_.solve.constraints, std::move(contender));
    if (done.schedule && !done.period.deadlock && request_.simulate) done.simulated = request_.simulate(of, *done.schedule);
    board_.contenders.push_back(std::move(done));
    board_.seconds = seconds_between(begin_, Clock::now());
    if (settled_) settled_(board_);
  }

  /// Somebody else's layouts, and the best schedule for them.
  void add_layouts(const LayoutBaseline& baseline) {
    if (listener_) listener_(Progress{baseline.name, 0, 0, 0, seconds_between(begin_, Clock::now())});
    const LayoutChoices choices = choices_with(*request_.layouts, baseline.choose(*request_.layouts));
    Contender c;
    c.name = baseline.name;
    c.kind = ContenderKind::Baseline;
    c.about = fmt::format("{} ({}); the schedule is Heddle's best for them", baseline.about, baseline.source);
    c.log.push_back(choices_text(choices));
    Result<Problem> of = request_.resolve(choices);
    if (!of) {
      c.why_not = to_string(of.error());
      return add(std::move(c));
    }
    SolveRequest request = request_.solve;
    request.problem = *of;
    request.timeout_seconds = deadline_.left() / 2;
    if (deadline_.passed()) {
      c.why_not = "no time was left for it";
      board_.timed_out = true;
      return add(std::move(c));
    }
    const SolveOutcome outcome = solve(request, stop_, listener_);
    if (outcome.schedule && !outcome.serial)
      c.schedule = outcome.schedule;
    else
      c.why_not = outcome.serial || outcome.explanation.empty() ? "none found in time" : outcome.explanation;
    add(std::move(c), *of);
  }

  void solve_it() {
    SolveRequest request = request_.solve;
    request.timeout_seconds = deadline_.left();
    SolveOutcome outcome;
    Problem of = problem();
    std::string chosen;
    if (request_.layouts) {
      ChosenLayouts answer = choose_layouts(*request_.layouts, request_.resolve, request, stop_, listener_);
      outcome = answer.outcome, of = answer.problem;
      request.problem = of;
      if (request.by_time) choose_by_time(request, outcome, stop_, listener_);
      chosen = "; " + layout_claim(answer) + ": " + choices_text(answer.choices);
    } else {
      request.by_time = with_board();
      outcome = solve_for_time(request, stop_, listener_);
    }
    // With demands in force the solver's bound holds for schedules that meet them, and for no others.
    if (outcome.lower_bound > board_.lower_bound && outcome.status != Status::Infeasible) {
      board_.lower_bound = outcome.lower_bound;
      board_.bound_on_ii |= !request_.solve.constraints.empty();
      if (outcome.reason == BoundReason::Refutation) board_.bound_stages = request_.solve.max_stages;
      board_.why = outcome.explanation;
    }
    board_.cancelled = outcome.cancelled;
    board_.timed_out |= outcome.timed_out;
    Contender solver = solver_contender(outcome);
    solver.about += chosen;
    add(std::move(solver), of);
  }

  /// What the solver's answer is chosen with: what stands on the board need be neither made nor predicted again.
  std::shared_ptr<const TimeChoice> with_board() const {
    if (!request_.solve.by_time) return nullptr;
    auto choice = std::make_shared<TimeChoice>(*request_.solve.by_time);
    const auto on_board = [&](const Baseline& baseline) {
      return std::any_of(board_.contenders.begin(), board_.contenders.end(), [&](const Contender& c) { return c.name == baseline.name; });
    };
    choice->heuristics = !std::all_of(baselines().begin(), baselines().end(), on_board);
    for (const Contender& c : board_.contenders) {
      if (!c.valid() || c.period.deadlock) continue;
      KnownOrder order{c.name, *c.schedule};
      if (c.simulated && c.simulated->fault.empty())
        order.forecast =
            Forecast{c.simulated->microseconds, c.simulated->cycles, c.simulated->period, c.simulated->tflops, c.simulated->decides};
      choice->orders.push_back(std::move(order));
    }
    return choice;
  }

  const ScoreboardRequest& request_;
  std::stop_token stop_;
  const ScoreboardListener& settled_;
  const SolveListener& listener_;
  const Clock::time_point begin_ = Clock::now();
  const Deadline deadline_{request_.solve.timeout_seconds, begin_};
  Scoreboard board_;
};

}  // namespace

std::vector<BaselineChoice> all_baselines() {
  std::vector<BaselineChoice> all;
  for (const Baseline& baseline : baselines()) all.push_back({&baseline, {}});
  return all;
}

Scoreboard make_scoreboard(const ScoreboardRequest& request, std::stop_token stop, const ScoreboardListener& settled,
                           const SolveListener& listener) {
  return Board(request, std::move(stop), settled, listener).make();
}

}  // namespace heddle::solver
