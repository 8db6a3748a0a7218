#include "solver/questions/sensitivity.h"

#include <algorithm>
#include <span>

#include "core/analysis/bounds.h"
#include "core/analysis/retime.h"
#include "core/analysis/stretch.h"
#include "core/check/reuse.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "solver/encoding/user.h"
#include "solver/z3/backend.h"

namespace heddle::solver {
namespace {

/// A query about one II with many numbers relaxed at once may be hard for reasons of its own; then it is not worth more.
constexpr double kGroupSeconds = 2;

/// One direction of one number that arithmetic leaves open.
struct Open {
  std::size_t row;
  bool more;
  Change change;
  Problem problem;  ///< with the present layouts
  Problem least;    ///< no problem with other layouts has less of anything; the same where none are open
  std::optional<OpenLayouts> layouts;
  std::optional<Schedule> best;
};

/// Every number is the same, of all candidates.
bool same_question(const OpenLayouts& a, const OpenLayouts& b) {
  return problem_hash(a.shape) == problem_hash(b.shape) &&
         std::equal(a.decisions.begin(), a.decisions.end(), b.decisions.begin(), b.decisions.end(),
                    [](const LayoutDecision& x, const LayoutDecision& y) {
                      return std::equal(x.candidates.begin(), x.candidates.end(), y.candidates.begin(), y.candidates.end(),
                                        [](const auto& c, const auto& d) { return c.numbers == d.numbers; });
                    });
}

class SensitivityExplorer {
 public:
  SensitivityExplorer(const SensitivityRequest& request, std::stop_token stop, const SensitivityListener& grown)
      : request_(request), stop_(std::move(stop)), grown_(grown), begin_(Clock::now()) {
    deadline_ = deadline_after(begin_, request.solve.timeout_seconds);
    answer_.percent = request.percent;
  }

  Sensitivity run() {
    solve_present();
    if (answer_.schedule) {
      for (const Change& number : request_.numbers) {
        if (exhausted()) break;
        add_row(number);
      }
      report();
      settle_relaxed();
      settle_single();
    }
    answer_.seconds = elapsed();
    const bool done = answer_.status == Status::Infeasible || (answer_.complete() && answer_.rows.size() == request_.numbers.size());
    answer_.cancelled = stop_.stop_requested() && !done;
    answer_.timed_out = !answer_.cancelled && !done;
    sort_rows(answer_);
    return answer_;
  }

 private:
  double elapsed() const { return seconds_between(begin_, Clock::now()); }
  double left() const { return std::max(0.0, seconds_between(Clock::now(), deadline_)); }
  bool exhausted() const { return stop_.stop_requested() || Clock::now() >= deadline_; }
  SensitivitySide& side(const Open& open) { return open.more ? answer_.rows[open.row].more : answer_.rows[open.row].less; }

  /// Fills what belongs to these changes. Nothing: there is no such problem.
  Result<Ok> resolve(const Changes& changes, Problem& problem, Problem& least, std::optional<OpenLayouts>& layouts) const {
    Result<Problem> with = request_.open_with ? request_.problem_with_layouts(changes, answer_.layouts) : request_.problem_with(changes);
    if (!with) return with.error();
    problem = *std::move(with);
    if (!request_.open_with) {
      least = problem;
      return Ok{};
    }
    Result<OpenLayouts> open = request_.open_with(changes);
    if (!open) return open.error();
    layouts = *std::move(open);
    least = easiest_of_all(*layouts);
    return Ok{};
  }

  /// Over all layouts that are open.
  SolveOutcome solve_with(SolveRequest question, const Changes& changes, const std::optional<OpenLayouts>& layouts, LayoutChoices& chosen) {
    ++answer_.queries;
    if (!layouts) return solve(question, stop_);
    ChosenLayouts answer = choose_layouts(
        *layouts, [&](const LayoutChoices& choices) { return request_.problem_with_layouts(changes, choices); }, std::move(question),
        stop_);
    chosen = std::move(answer.choices);
    one_case_ = answer.cases <= 1;
    return std::move(answer.outcome);
  }

  void solve_present() {
    SolveRequest question = request_.solve;
    question.timeout_seconds = left() / 2;
    if (request_.open_with) {
      Result<OpenLayouts> open = request_.open_with({});
      if (!open) return void(answer_.explanation = to_string(open.error()));
      if (!open->complete) return void(answer_.explanation = "there are more layouts than are looked at: say some");
      layouts_ = *std::move(open);
      if (!layouts_->decisions.empty()) answer_.layouts_open = open_layouts_text(*layouts_);
    }
    const SolveOutcome outcome = solve_with(std::move(question), {}, layouts_, answer_.layouts);
    answer_.status = outcome.status;
    answer_.lower_bound = outcome.lower_bound;
    answer_.explanation = outcome.explanation;
    answer_.schedule = outcome.schedule;
    if (outcome.schedule) answer_.ii = outcome.schedule->ii;
    present_ = least_ = request_.solve.problem;
    if (layouts_) {
      if (Result<Problem> chosen = request_.problem_with_layouts({}, answer_.layouts)) present_ = *std::move(chosen);
      least_ = easiest_of_all(*layouts_);
    }
    if (answer_.schedule && present_.contention.known) {
      answer_.period = motion::motion_of(present_, *answer_.schedule, {.stop = stop_}).period.cycles();
      answer_.contention = motion::period_at_ends(present_, *answer_.schedule, stop_);
    }
    // Decided in several cases, the bound is one of each case, not of the easiest of all.
    least_bound_ = one_case_ ? answer_.lower_bound : compute_bounds(least_).min_ii();
  }

  void add_row(const Change& number) {
    SensitivityRow row;
    row.number = describe(number);
    row.number.erase(row.number.rfind('='));
    row.values = values_of(present_, number);
    for (const Op& op : present_.ops)
      if (op.name == number.op || (!number.rule.empty() && op.rule == number.rule)) row.ops.push_back(op.name);
    answer_.rows.push_back(std::move(row));
    for (const bool more : {false, true}) {
      Change change = number;
      change.effect = ChangeEffect::Percent;
      change.value = more ? request_.percent : -request_.percent;
      start({answer_.rows.size() - 1, more, std::move(change), {}, {}, {}, {}});
    }
  }

  /// What needs no solver.
  void start(Open open) {
    SensitivitySide& side = this->side(open);
    if (const Result<Ok> resolved = resolve({open.change}, open.problem, open.least, open.layouts); !resolved) {
      side.fault = resolved.error().faults.front().message;
      return;
    }
    side.values = values_of(open.problem, open.change);
    side.same_problem = problem_hash(open.problem) == problem_hash(present_) && (!layouts_ || same_question(*open.layouts, *layouts_));
    if (side.same_problem) return;
    if (answer_.period) side.period = motion::motion_of(open.problem, *answer_.schedule, {.stop = stop_}).period.cycles();
    side.lower_bound = compute_bounds(open.least).min_ii();
    if (at_least_as_strict(open.least, least_)) side.lower_bound = std::max(side.lower_bound, least_bound_);
    const bool stretches = monotone_in_ii(request_.solve.constraints);
    if (const auto least = stretches ? stretch_bound(open.least, least_) : std::nullopt)
      side.lower_bound = std::max(side.lower_bound, least_bound_ - *least);
    open.best = best_in_order(open.problem, *answer_.schedule, request_.solve.constraints);
    if (const auto grown = stretches ? growth(present_, open.problem) : std::nullopt) {
      auto later = still_valid(open.problem, stretched(*answer_.schedule, *grown), request_.solve.constraints);
      if (later && (!open.best || later->ii < open.best->ii)) open.best = std::move(later);
    }
    if (open.best) side.in_order = side.ii = open.best->ii;
    side.order_bound = order_bound(open.least, refitted(open.least, *answer_.schedule));
    if (side.ii > side.lower_bound) open_.push_back(std::move(open));
  }

  /// Sides that can only lower II, by no more than the solver can exclude for all of them at once.
  void settle_relaxed() {
    if (answer_.status != Status::Optimal) return;
    std::vector<Open*> relaxed, likely;
    const Cycle now = compute_bounds(least_).min_ii();
    for (Open& open : open_) {
      if (side(open).ii != answer_.ii || !at_least_as_strict(least_, open.least)) continue;
      // Where the bound itself moves, II most likely does too.
      (side(open).lower_bound < now ? likely : relaxed).push_back(&open);
    }
    exclude(relaxed);
    exclude(likely);
  }

  void exclude(std::span<Open*> group) {
    if (group.size() < 2 || exhausted()) return;  // single ones are solved anyway
    Changes changes;
    for (const Open* open : group) changes.push_back(open->change);
    Problem problem, together;
    std::optional<OpenLayouts> layouts;
    if (resolve(changes, problem, together, layouts) && refuted(together)) {
      for (Open* open : group)
        if (at_least_as_strict(open->least, together)) side(*open).lower_bound = answer_.ii;
      report();
      return;
    }
    exclude(group.first(group.size() / 2));
    exclude(group.subspan(group.size() / 2));
  }

  /// Whether no schedule of this problem has an II below the present one.
  bool refuted(const Problem& problem) {
    if (compute_bounds(problem).min_ii() >= answer_.ii) return true;
    SolveRequest question = request_.solve;
    question.problem = problem;
    question.objectives = {};
    question.explain = false;
    question.ii = answer_.ii - 1;
    question.timeout_seconds = std::min(left(), kGroupSeconds);
    ++answer_.queries;
    return solve(question, stop_).status == Status::Infeasible;
  }

  void settle_single() {
    std::vector<Open*> rest;
    for (Open& open : open_)
      if (!side(open).proved()) rest.push_back(&open);
    for (std::size_t i = 0; i < rest.size() && !exhausted(); ++i) {
      Open& open = *rest[i];
      SensitivitySide& side = this->side(open);
      SolveRequest question = request_.solve;
      question.problem = open.problem;
      question.objectives = {};
      question.explain = false;
      question.known_bound = side.lower_bound;
      question.incumbent = open.best;
      question.timeout_seconds = std::min(left(), std::max(0.5, 2 * left() / static_cast<double>(rest.size() - i)));
      LayoutChoices chosen;
      const SolveOutcome outcome = solve_with(std::move(question), {open.change}, open.layouts, chosen);
      const bool none = outcome.status == Status::Infeasible && side.ii >= kNoFiniteII;
      if (outcome.schedule && outcome.schedule->ii < side.ii) {
        side.ii = outcome.schedule->ii;
        if (!(chosen == answer_.layouts)) side.layouts = std::move(chosen);
      }
      // A bound above a schedule would be a fault of somebody's; the schedule has passed the checker.
      side.lower_bound = none ? kNoFiniteII : std::min(std::max(side.lower_bound, outcome.lower_bound), side.ii);
      report();
    }
  }

  void report() {
    if (!grown_) return;
    answer_.seconds = elapsed();
    grown_(answer_);
  }

  const SensitivityRequest& request_;
  std::stop_token stop_;
  const SensitivityListener& grown_;
  Clock::time_point begin_, deadline_;
  Sensitivity answer_;
  Problem present_;                     ///< with the layouts that are best at present
  Problem least_;                       ///< as Open::least
  std::optional<OpenLayouts> layouts_;  ///< at present
  bool one_case_ = true;                ///< of the last solve over layouts: nothing had to be split
  Cycle least_bound_ = 1;               ///< proved of least_
  std::vector<Open> open_;
};

}  // namespace

Sensitivity sensitivity(const SensitivityRequest& request, std::stop_token stop, const SensitivityListener& grown) {
  return SensitivityExplorer(request, std::move(stop), grown).run();
}

}  // namespace heddle::solver
