// Points of the step function, each with a bound below and a schedule above; the widest open gap is halved next.
#include "solver/explore/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/analysis/bounds.h"
#include "core/check/checker.h"
#include "core/problem/fault_log.h"
#include "core/problem/strictness.h"
#include "solver/backend.h"
#include "solver/explore/reuse.h"

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
    const double seconds = std::clamp(request.solve.timeout_seconds, 0.0, 1e8);
    deadline_ = begin_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
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
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  double left() const { return std::max(0.0, std::chrono::duration<double>(deadline_ - Clock::now()).count()); }
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

  /// A bound holds for every larger latency too, a schedule for every smaller one.
  void spread(Cycle latency) {
    const Point& point = points_.at(latency);
    for (auto& [other, p] : points_) {
      if (other > latency && p.lower < point.lower) {
        p.lower = point.lower;
        p.why = point.why;
      }
      if (other < latency && p.upper > point.upper) {
        p.upper = point.upper;
        p.schedule = point.schedule;
      }
    }
  }

  void find_range() {
    const Schedule& as_it_is = *answer_.schedule;
    answer_.refitted_to = largest_accepted([&](const Problem& p) { return still_valid(p, as_it_is, request_.solve.constraints).has_value(); });
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
      if (a < request_.from || b > request_.to || b - a <= widest || at_a.lower == at_b.upper) continue;
      if (at_a.lower == at_b.lower && at_a.upper == at_b.upper) continue;  // neither end could be settled, nor could this
      widest = b - a;
      middle = a + widest / 2;
    }
    return widest > 1 ? std::optional(middle) : std::nullopt;
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
    points_[latency] = point;
    spread(latency);
    if (point.lower < point.upper && !exhausted()) query(latency, *problem, point);
    if (grown_) report();
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
    const auto add = [&](Cycle low, Cycle high, Cycle lower, Cycle upper, const std::string& why) {
      low = std::max(low, request_.from);
      high = std::min(high, request_.to);
      if (low > high) return;
      const Cycle sound = std::min(lower, upper);  // a bound above a schedule would be a fault of somebody's
      if (!found.empty() && found.back().lower_bound == sound && found.back().ii == upper)
        found.back().high = high;
      else
        found.push_back({low, high, sound, upper, why});
    };
    // Only where the question was: beyond the outermost points nothing has been asked.
    if (!points_.contains(request_.from) || !points_.contains(request_.to)) return found;
    for (auto it = points_.begin(); it != points_.end(); ++it) {
      const auto& [latency, point] = *it;
      add(latency, latency, point.lower, point.upper, point.why);
      if (const auto next = std::next(it); next != points_.end())
        add(latency + 1, next->first - 1, point.lower, next->second.upper, point.why);
    }
    return found;
  }

  const LatencyRequest& request_;
  std::stop_token stop_;
  const LatencyListener& grown_;
  Clock::time_point begin_, deadline_, reported_;
  LatencyRange answer_;
  std::map<Cycle, Point> points_;
};

}  // namespace

LatencyRange latency_range(const LatencyRequest& request, std::stop_token stop, const LatencyListener& grown) {
  return Explorer(request, std::move(stop), grown).run();
}

}  // namespace heddle::solver
