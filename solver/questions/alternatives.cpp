// The optimum first, then one live model with the objectives' values as assumptions. A search that asks for a distance gets
// limited effort; the one that asks for nothing but novelty gets all the time there is, because its refutation is the proof.
#include "solver/questions/alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>

#include "core/analysis/period.h"
#include "core/check/checker.h"
#include "core/simulate/forecast.h"
#include "solver/encoding/user.h"
#include "solver/questions/difference.h"
#include "solver/search/decide.h"
#include "solver/search/objectives.h"
#include "solver/search/stage_range.h"

namespace heddle::solver {
namespace {

constexpr std::uint64_t kFarEffort = kEffortPerSecond / 4;
/// So many schedules are spread out; whoever asks for more wants to count.
constexpr std::size_t kSpread = 20;

class Enumeration {
 public:
  Enumeration(const AlternativesRequest& request, std::stop_token stop, const AlternativeListener& found)
      : request_(request), problem_(request.solve.problem), found_(found), begin_(Clock::now()) {
    limits_ = {deadline_after(begin_, request.solve.timeout_seconds), std::move(stop)};
    answer_.aspect = request.aspect;
    answer_.ii_only = request.ii_only;
  }

  Alternatives run(const SolveListener& listener) {
    SolveRequest first = request_.solve;
    if (request_.ii_only) first.objectives.clear();
    answer_.first = solve(first, limits_.stop, listener);
    try {
      if (answer_.first.schedule) enumerate();
    } catch (const Stopped&) {
    } catch (const std::exception& e) {  // Z3 reports memory limits and internal faults this way
      answer_.fault = fmt::format("the solver failed: {}", e.what());
    }
    judge_worth();
    answer_.cancelled = limits_.stop.stop_requested() && !answer_.exact;
    answer_.timed_out = !answer_.cancelled && !settled() && Clock::now() >= limits_.deadline;
    answer_.seconds = seconds_between(begin_, Clock::now());
    return std::move(answer_);
  }

 private:
  bool settled() const { return answer_.exact || answer_.more; }

  ModelOptions options() const {
    ModelOptions o;
    o.ii = answer_.first.schedule->ii;
    o.stages = answer_.stages;
    o.anchored = false;  // the number of stages is part of the question
    o.seed = request_.solve.seed;
    o.limits = limits_;
    return o;
  }

  void judge_worth() {
    if (!request_.numbers || answer_.found.size() < 2) return;
    const std::vector<std::size_t> order = by_robustness(answer_);
    const Alternative &most = answer_.found[order.front()], &least = answer_.found[order.back()];
    if (most.if_off.mean > 0) answer_.worth = differences(problem_, least.schedule, most.schedule);
  }
  void enumerate();
  void hold_objectives(LiveModel& live);
  std::optional<Schedule> next(LiveModel& live, SignatureDifference& difference);
  bool keep(Schedule schedule);

  const AlternativesRequest& request_;
  const Problem& problem_;
  const AlternativeListener& found_;
  Clock::time_point begin_;
  QueryLimits limits_;
  Alternatives answer_;
  std::vector<Lit> equal_;  ///< assumptions that hold the objectives
  std::optional<std::int64_t> register_cap_;
  std::set<Signature> signatures_;
  std::vector<std::vector<Lit>> places_;  ///< of each found schedule
  int distance_ = 1;                      ///< asked for at present
  int farthest_ = 0;                      ///< a greater distance is refuted
};

void Enumeration::hold_objectives(LiveModel& live) {
  if (request_.ii_only) return;
  for (const Objective objective : request_.solve.objectives) {
    const std::int64_t value = objective_value(problem_, *answer_.first.schedule, objective);
    equal_.push_back(objective_at_most(live, objective, value));
    if (objective == Objective::Registers) register_cap_ = value;
  }
}

/// Nothing when there is no other one, or no time to find it; `answer_.exact` tells which.
std::optional<Schedule> Enumeration::next(LiveModel& live, SignatureDifference& difference) {
  for (; true; distance_ /= 2) {
    std::vector<Lit> assumptions = equal_;
    if (distance_ > 1) {
      while (places_.size() < answer_.found.size()) places_.push_back(difference.places(answer_.found[places_.size()].schedule));
      for (const std::vector<Lit>& places : places_) assumptions.push_back(difference.at_least(places, distance_));
    }
    Schedule schedule;
    switch (live.check(assumptions, schedule, register_cap_, distance_ > 1 ? kFarEffort : 0)) {
      case Answer::Yes: return schedule;
      case Answer::No:
        if (distance_ > 1) {
          farthest_ = distance_ - 1;  // with more schedules to keep away from, that will not change
          break;
        }
        answer_.exact = true;
        return std::nullopt;
      case Answer::Unknown:
        if (distance_ > 1 && !limits_.stop.stop_requested() && Clock::now() < limits_.deadline) break;
        return std::nullopt;
    }
  }
}

/// False on an internal fault: a schedule that the checker rejects, or one that is not new.
bool Enumeration::keep(Schedule schedule) {
  const Schedule& first = *answer_.first.schedule;
  if (!fixes_rotation(request_.solve.constraints)) normalize_starts(schedule);
  if (!answer_.found.empty()) {
    if (!names_groups(request_.solve.constraints)) align_groups(problem_, first, schedule);
    schedule.provenance = first.provenance;
    schedule.certificate = first.certificate;
    if (schedule.certificate)
      for (ObjectiveValue& o : schedule.certificate->objectives)
        for (const Objective objective : request_.solve.objectives)
          if (o.name == to_string(objective)) {
            const std::int64_t value = objective_value(problem_, schedule, objective);
            o.proved = o.proved && o.value == value;  // what was proved is the least value, which this one may not have
            o.value = value;
          }
    schedule.name = fmt::format("alternative {} at II {}", answer_.found.size() + 1, schedule.ii);
  }
  const Verdict verdict = check(problem_, schedule, request_.solve.constraints);
  if (!verdict.valid()) {
    answer_.fault = "the checker rejects a schedule the solver found: " + verdict.violations.front().message;
    return false;
  }
  if (!signatures_.insert(signature_of(problem_, schedule, request_.aspect)).second) {
    answer_.fault = "the solver found the same schedule twice";
    return false;
  }
  Alternative alternative;
  alternative.nearest = answer_.found.empty() ? 0 : answer_.most_distance;
  for (const Alternative& other : answer_.found)
    alternative.nearest = std::min(alternative.nearest, signature_distance(problem_, schedule, other.schedule));
  alternative.distance = signature_distance(problem_, first, schedule);
  alternative.differences = differences(problem_, first, schedule);
  alternative.period = sustainable_period(problem_, schedule).cycles();
  alternative.robustness = robustness_of(problem_, schedule);
  if (request_.numbers) alternative.if_off = period_spread(*request_.numbers, schedule, limits_.stop);
  if (request_.periods) alternative.contended_period = deciding_period(problem_, schedule, limits_.stop);
  alternative.schedule = std::move(schedule);
  answer_.found.push_back(std::move(alternative));
  if (found_) found_(answer_.found.back());
  return true;
}

void Enumeration::enumerate() {
  const Schedule& first = *answer_.first.schedule;
  answer_.stages = stage_count(first);
  if (request_.ii_only)
    answer_.stages = capped_stages(request_.solve.constraints, std::max(answer_.stages, std::clamp(request_.solve.max_stages, 1, 64)));
  if (!keep(first)) return;
  LiveModel live(problem_, request_.solve.constraints, options());
  SignatureDifference difference(live.model());
  answer_.most_distance = difference.greatest();
  hold_objectives(live);
  difference.require_another(first, request_.aspect);
  farthest_ = answer_.most_distance;
  distance_ = std::max(1, farthest_ / 2);
  const auto count = static_cast<std::size_t>(std::max(1, request_.count));
  while (true) {
    const bool enough = answer_.found.size() >= count;
    if (enough) distance_ = 1;  // only whether there is one more
    std::optional<Schedule> schedule = next(live, difference);
    answer_.queries = live.queries();
    if (!schedule) return;
    if (enough) {
      answer_.more = true;
      return;
    }
    difference.require_another(*schedule, request_.aspect);
    if (!keep(*std::move(schedule))) return;
    distance_ = answer_.found.size() < kSpread ? std::max(1, std::min(farthest_, 4 * distance_)) : 1;
  }
}

}  // namespace

Alternatives find_alternatives(const AlternativesRequest& request, std::stop_token stop, const AlternativeListener& found,
                               const SolveListener& listener) {
  return Enumeration(request, std::move(stop), found).run(listener);
}

}  // namespace heddle::solver
