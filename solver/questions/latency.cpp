// Points of the step function, each with a bound below and a schedule above; the widest open gap is halved next.
#include "solver/questions/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/analysis/bounds.h"
#include "core/analysis/stretch.h"
#include "core/check/checker.h"
#include "core/check/reuse.h"
#include "core/problem/fault_log.h"
#include "core/problem/problem.h"
#include "solver/encoding/user.h"
#include "solver/z3/backend.h"

namespace heddle::solver {
namespace {

/// One query gets at most this part of the time left (but a second), so that a hard one leaves something for the others.
constexpr double kQueryShare = 12;

struct Point {
  Cycle lower = 1;
  Cycle upper = kNoFiniteII;
  std::optional<Schedule> schedule;  ///< with II = upper
  std::string why;
};

class Explorer {
 public:
  Explorer(const LatencyRequest& request, std::stop_token stop, const LatencyListener& grown)
      : request_(request), stop_(std::move(stop)), grown_(grown), begin_(Clock::now()) {
    deadline_ = deadline_after(begin_, request.solve.timeout_seconds);
    answer_.op = request.solve.problem.op(request.op).name;
    answer_.latency = request.solve.problem.op(request.op).latency;
    answer_.from = request.from;
    answer_.to = request.to;
  }

  LatencyRange run() {
    solve_present();
    if (answer_.schedule) find_range();
    find_steps();
    answer_.steps = steps();
    answer_.latencies_settled = static_cast<std::int64_t>(points_.size());
    answer_.seconds = elapsed();
    answer_.cancelled = stop_.stop_requested() && !answer_.complete();
    answer_.timed_out = !answer_.cancelled && !answer_.complete() && Clock::now() >= deadline_;
    return answer_;
  }

 private:
  double elapsed() const { return seconds_between(begin_, Clock::now()); }
  double left() const { return std::max(0.0, seconds_between(Clock::now(), deadline_)); }
  bool exhausted() const { return stop_.stop_requested() || Clock::now() >= deadline_ || !answer_.fault.empty(); }

  /// Only the first fault counts; everything ends with it.
  std::optional<Problem> problem_at(Cycle latency) {
    Result<Problem> problem = request_.problem_at(latency);
    if (problem) return *std::move(problem);
    if (answer_.fault.empty()) answer_.fault = fmt::format("latency {}: {}", latency, to_string(problem.error()));
    return std::nullopt;
  }

  void solve_present() {
    SolveRequest present = request_.solve;
    present.timeout_seconds = left() / 2;
    if (request_.schedule) {
      present.incumbent = request_.schedule;
      present.objectives = {};
    }
    const SolveOutcome outcome = solve(present, stop_);
    answer_.status = outcome.status;
    answer_.lower_bound = outcome.lower_bound;
    answer_.schedule = request_.schedule ? request_.schedule : outcome.schedule;
    answer_.given = request_.schedule.has_value();
    if (answer_.schedule) answer_.ii = answer_.schedule->ii;
    ++answer_.queries;
    take(answer_.latency, outcome, "");
    // All that follows rests on it.
    const auto low = problem_at(0), high = problem_at(kAbsurd);
    if (low && high && !(at_least_as_strict(*high, present.problem) && at_least_as_strict(present.problem, *low)))
      answer_.fault = "a longer latency relaxes something here, so neither range nor steps can be found by bisection";
    const auto one = problem_at(1);
    at_most_one_per_cycle_ = one && high && monotone_in_ii(present.constraints) && stretch_bound(*one, *high) == kAbsurd - 1;
  }

  /// What a solve found out about one latency.
  void take(Cycle latency, const SolveOutcome& outcome, const std::string& otherwise) {
    Point& point = points_[latency];
    const Cycle bound = outcome.status == Status::Infeasible ? kNoFiniteII : outcome.lower_bound;
    if (bound > point.lower) {
      point.lower = bound;
      point.why = outcome.explanation.empty() ? otherwise : outcome.explanation;
    }
    if (outcome.schedule && outcome.schedule->ii < point.upper) {
      point.upper = outcome.schedule->ii;
      point.schedule = outcome.schedule;
    }
    spread(latency);
  }

  /// A bound holds for every larger latency too, a schedule for every smaller one; with idle cycles, for larger ones too.
  void spread(Cycle latency) {
    const Point point = points_.at(latency);
    for (auto& [other, p] : points_) {
      if (other > latency && p.lower < point.lower) {
        p.lower = point.lower;
        p.why = point.why;
      }
      if (other > latency && latency >= 1 && at_most_one_per_cycle_ && point.schedule && p.lower < p.upper &&
          point.upper + (other - latency) < p.upper)
        if (const auto problem = problem_at(other)) stretch(latency, *point.schedule, *problem, p);
      if (other < latency && p.upper > point.upper) {
        p.upper = point.upper;
        p.schedule = point.schedule;
      }
    }
  }

  void find_range() {
    const Schedule& as_it_is = *answer_.schedule;
    answer_.refitted_to =
        largest_accepted([&](const Problem& p) { return still_valid(p, as_it_is, request_.solve.constraints).has_value(); });
    answer_.valid_to = largest_accepted([&](const Problem& p) { return check(p, as_it_is, request_.solve.constraints).valid(); });
    answer_.retimed_to = largest_accepted([&](const Problem& p) {
      const auto moved = best_in_order(p, as_it_is, request_.solve.constraints);
      return moved && moved->ii <= as_it_is.ii;
    });
    if (!answer_.valid_to || *answer_.valid_to >= kUnlimited) return;
    if (const auto beyond = problem_at(*answer_.valid_to + 1)) {
      const Verdict verdict = check(*beyond, as_it_is, request_.solve.constraints);
      if (!verdict.valid()) answer_.breaks = verdict.violations.front().message;
    }
  }

  /// The largest latency whose problem is accepted; nothing when time is up or the present one is refused.
  template <class Accept>
  std::optional<Cycle> largest_accepted(Accept accept) {
    const auto accepted = [&](Cycle latency) {
      const auto problem = problem_at(latency);
      return problem && accept(*problem);
    };
    if (!accepted(answer_.latency)) return std::nullopt;
    Cycle good = answer_.latency, bad = kAbsurd + 1;
    for (Cycle step = 1; good + step < bad && !exhausted(); step *= 2) {
      if (accepted(good + step))
        good += step;
      else
        bad = good + step;
    }
    if (bad > kAbsurd && !exhausted()) {
      if (accepted(kAbsurd)) return kUnlimited;
      bad = kAbsurd;
    }
    while (good + 1 < bad && !exhausted()) {
      const Cycle middle = good + (bad - good) / 2;
      (accepted(middle) ? good : bad) = middle;
    }
    if (exhausted()) return std::nullopt;
    return good;
  }

  void find_steps() {
    for (Cycle latency : {request_.from, request_.to})
      if (!exhausted() && !points_.contains(latency)) settle(latency);
    while (!exhausted()) {
      const auto middle = widest_gap();
      if (!middle) return;
      settle(*middle);
    }
  }

  /// The middle of the widest stretch between two neighbouring points that their bounds leave open.
  std::optional<Cycle> widest_gap() const {
    Cycle widest = 1, middle = 0;
    for (auto right = points_.begin(), left = right++; right != points_.end(); left = right++) {
      const auto& [a, at_a] = *left;
      const auto& [b, at_b] = *right;
      if (a < request_.from || b > request_.to || b - a <= widest || at_a.lower == at_b.upper || rises(*left, *right)) continue;
      if (at_a.lower == at_b.lower && at_a.upper == at_b.upper) continue;  // neither end could be settled, nor could this
      widest = b - a;
      middle = a + widest / 2;
      // Mostly II is flat and then rises with the latency: every other time, look where that bend would be.
      const Cycle bend = at_b.upper < kNoFiniteII ? b - (at_b.upper - at_a.lower) : a;
      if (at_most_one_per_cycle_ && points_.size() % 2 == 0 && bend > a && bend < b) middle = bend;
    }
    return widest > 1 ? std::optional(middle) : std::nullopt;
  }

  /// Between these two II grows by 1 with every cycle, because it grows by that much over all and never by more.
  bool rises(const std::pair<const Cycle, Point>& a, const std::pair<const Cycle, Point>& b) const {
    return at_most_one_per_cycle_ && a.first >= 1 && a.second.lower == a.second.upper && b.second.lower == b.second.upper &&
           b.second.upper < kNoFiniteII && b.second.upper - a.second.lower == b.first - a.first;
  }

  void settle(Cycle latency) {
    const auto problem = problem_at(latency);
    if (!problem) return;
    Point point;
    const auto right = points_.upper_bound(latency);
    const auto left = right == points_.begin() ? points_.end() : std::prev(right);
    if (left != points_.end()) {
      point.lower = left->second.lower;
      point.why = left->second.why;
    }
    const bool may_stretch = at_most_one_per_cycle_ && latency >= 1;
    if (may_stretch && right != points_.end() && right->second.lower < kNoFiniteII &&
        right->second.lower - (right->first - latency) > point.lower) {
      point.lower = right->second.lower - (right->first - latency);
      point.why = fmt::format("II is at least {} at latency {}, and grows no faster than the latency", right->second.lower, right->first);
    }
    const Bounds bounds = compute_bounds(*problem);
    if (bounds.min_ii() > point.lower) {
      point.lower = bounds.min_ii();
      point.why = bounds.sentence;
    }
    for (const Schedule* like : {right != points_.end() && right->second.schedule ? &*right->second.schedule : nullptr,
                                 left != points_.end() && left->second.schedule ? &*left->second.schedule : nullptr}) {
      if (!like || point.upper <= point.lower) continue;
      auto found = best_in_order(*problem, *like, request_.solve.constraints);
      if (!found || found->ii >= point.upper) continue;
      point.upper = found->ii;
      point.schedule = std::move(found);
    }
    if (may_stretch && left != points_.end() && left->first >= 1 && left->second.schedule &&
        left->second.upper + (latency - left->first) < point.upper && point.upper > point.lower)
      stretch(left->first, *left->second.schedule, *problem, point);
    points_[latency] = point;
    spread(latency);
    if (point.lower < point.upper && !exhausted()) query(latency, *problem, point);
    if (grown_) report();
  }

  /// The schedule of a smaller latency with idle cycles inserted.
  void stretch(Cycle from, const Schedule& schedule, const Problem& problem, Point& point) {
    const auto easy = problem_at(from);
    const auto grown = easy ? growth(*easy, problem) : std::nullopt;
    if (!grown) return;
    auto found = still_valid(problem, stretched(schedule, *grown), request_.solve.constraints);
    if (!found || found->ii >= point.upper) return;
    point.upper = found->ii;
    point.schedule = std::move(found);
  }

  void query(Cycle latency, const Problem& problem, const Point& point) {
    SolveRequest question = request_.solve;
    question.problem = problem;
    question.objectives = {};
    question.known_bound = point.lower;
    question.known_bound_why = point.why;
    question.incumbent = point.schedule;
    question.timeout_seconds = std::min(left(), std::max(1.0, left() / kQueryShare));
    ++answer_.queries;
    take(latency, solve(question, stop_), point.why);
  }

  void report() {
    if (Clock::now() - reported_ < std::chrono::milliseconds(50)) return;
    reported_ = Clock::now();
    answer_.steps = steps();
    answer_.latencies_settled = static_cast<std::int64_t>(points_.size());
    answer_.seconds = elapsed();
    grown_(answer_);
  }

  std::vector<LatencyStep> steps() const {
    std::vector<LatencyStep> found;
    const auto add = [&](Cycle low, Cycle high, Cycle lower, Cycle upper, const std::string& why, Cycle rise = 0) {
      low = std::max(low, request_.from);
      high = std::min(high, request_.to);
      if (low > high) return;
      const Cycle sound = std::min(lower, upper);  // a bound above a schedule would be a fault of somebody's
      if (!found.empty() && found.back().rise == rise && rise == 0 && found.back().lower_bound == sound && found.back().ii == upper)
        found.back().high = high;
      else
        found.push_back({low, high, sound, upper, rise, why});
    };
    // Only where the question was: beyond the outermost points nothing has been asked.
    if (!points_.contains(request_.from) || !points_.contains(request_.to)) return found;
    for (auto it = points_.begin(); it != points_.end(); ++it) {
      const auto& [latency, point] = *it;
      add(latency, latency, point.lower, point.upper, point.why);
      const auto next = std::next(it);
      if (next == points_.end()) continue;
      if (latency >= request_.from && next->first <= request_.to && rises(*it, *next))
        add(latency + 1, next->first - 1, point.lower + 1, point.lower + 1, "every cycle of latency costs a cycle of II", 1);
      else
        add(latency + 1, next->first - 1, point.lower, next->second.upper, point.why);
    }
    return found;
  }

  const LatencyRequest& request_;
  std::stop_token stop_;
  const LatencyListener& grown_;
  Clock::time_point begin_, deadline_, reported_;
  LatencyRange answer_;
  bool at_most_one_per_cycle_ = false;  ///< II grows by no more than the latency does, from latency 1 on
  std::map<Cycle, Point> points_;
};

}  // namespace

LatencyRange latency_range(const LatencyRequest& request, std::stop_token stop, const LatencyListener& grown) {
  const Op& op = request.solve.problem.op(request.op);
  if (op.spread.empty()) return Explorer(request, std::move(stop), grown).run();
  // The question is about one latency, so every latency that is compared is constant, the present one too.
  LatencyRequest constant = request;
  if (Result<Problem> problem = request.problem_at(op.latency)) constant.solve.problem = *std::move(problem);
  return Explorer(constant, std::move(stop), grown).run();
}

}  // namespace heddle::solver
