#include "solver/questions/within.h"

#include <algorithm>

#include "core/analysis/channels.h"
#include "core/base/assert.h"
#include "core/base/deadline.h"
#include "core/base/stop_after.h"
#include "core/check/checker.h"

namespace heddle::solver {
namespace {

/// All ops whose latency varies, at the n-th of its cases, or its last.
Changes place_of_all(const Problem& problem, std::size_t place) {
  Changes changes;
  for (const Op& op : problem.ops) {
    if (op.spread.empty()) continue;
    Change change;
    change.kind = ChangeKind::LatencyAt;
    change.op = op.name;
    change.value = static_cast<std::int64_t>(std::min(place, op.spread.cases.size()));
    changes.push_back(std::move(change));
  }
  return changes;
}

std::string scheduled_for(const Problem& problem) {
  std::vector<Cycle> cycles;
  for (const Op& op : problem.ops)
    if (!op.spread.empty() && std::find(cycles.begin(), cycles.end(), op.spread.chosen()) == cycles.end())
      cycles.push_back(op.spread.chosen());
  std::string text;
  for (std::size_t i = 0; i < cycles.size(); ++i) text += (i ? " and " : "") + std::to_string(cycles[i]);
  return text;
}

std::int64_t room_for_all(const Problem& problem, const Constraints& constraints) {
  std::int64_t room = problem.limits.smem_bytes;
  for (const UserConstraint& c : constraints)
    if (c.enabled && c.kind == ConstraintKind::MaxSmem) room = std::min(room, c.high);
  return room;
}

/// Of every ring in shared memory: from what the schedule needs to what limits, demands and memory leave.
std::vector<DepthRange> depth_ranges(const Problem& problem, const Constraints& constraints, const Schedule& schedule, std::int64_t room) {
  const std::vector<int> needed = minimal_depths(problem, schedule);
  Schedule least = schedule;
  for (std::size_t c = 0; c < needed.size(); ++c)
    if (problem.channels[c].space == Space::Smem) least.depths[c] = needed[c];
  const std::int64_t left = room - allocated(problem, least, Space::Smem);
  std::vector<DepthRange> ranges;
  for (std::size_t c = 0; c < needed.size(); ++c) {
    const Channel& channel = problem.channels[c];
    if (channel.space != Space::Smem || needed[c] == 0) continue;
    std::int64_t most =
        std::min<std::int64_t>(channel.max_depth, needed[c] + std::max<std::int64_t>(0, left) / std::max<std::int64_t>(1, channel.size));
    for (const UserConstraint& demand : constraints)
      if (demand.enabled && demand.kind == ConstraintKind::MaxDepth && demand.channel == channel.name) most = std::min(most, demand.high);
    ranges.push_back({ChannelId(c), needed[c], static_cast<int>(std::max<std::int64_t>(needed[c], most))});
  }
  return ranges;
}

/// The outcome's schedule with these depths. That no schedule takes less memory was proved of other depths.
void deepen(const Problem& problem, const Constraints& constraints, const LeastDepths& least, SolveOutcome& outcome) {
  outcome.schedule->depths = least.depths;
  const auto restate = [&](std::vector<ObjectiveValue>& objectives) {
    for (ObjectiveValue& o : objectives)
      if (o.name == "smem" && o.value != least.bytes) o = {o.name, least.bytes, false};
  };
  restate(outcome.objectives);
  if (outcome.schedule->certificate) restate(outcome.schedule->certificate->objectives);
  if (const Verdict verdict = check(problem, *outcome.schedule, constraints); !verdict.valid()) {
    outcome.status = Status::Invalid;
    outcome.explanation = verdict.violations.front().message;
  }
}

}  // namespace

WithinAnswer within(const WithinRequest& request, const std::stop_token& stop, const SolveListener& listener) {
  const Deadline deadline(request.solve.timeout_seconds);
  WithinAnswer answer;
  answer.percent = request.percent;
  answer.room = room_for_all(request.solve.problem, request.solve.constraints);
  std::size_t places = 0;
  for (const Op& op : request.solve.problem.ops) places = std::max(places, op.spread.cases.size());
  for (std::size_t place = 1; place <= places; ++place) {
    if (stop.stop_requested() || deadline.passed()) {
      answer.ended = false;
      break;
    }
    WithinStep step;
    step.at = place_of_all(request.solve.problem, place);
    Result<Problem> problem = request.problem_at(step.at);
    HEDDLE_ASSERT(problem.ok(), "a problem whose latencies vary can be made for each of them");
    step.scheduled_for = scheduled_for(*problem);
    SolveRequest solve_this = request.solve;
    solve_this.problem = *problem;
    solve_this.timeout_seconds = deadline.left();
    SolveOutcome outcome = request.answer ? request.answer(solve_this) : solve(solve_this, stop, listener);
    step.status = outcome.status;
    if (place == 1) {
      answer.least_ii = outcome.lower_bound;
      answer.limit = raised(outcome.lower_bound, request.percent);
      answer.problem = *problem;
      answer.outcome = outcome;
    }
    answer.ended &= outcome.status == Status::Optimal || outcome.status == Status::Infeasible;
    if (outcome.schedule) {
      step.ii = outcome.schedule->ii;
      step.bytes = allocated(*problem, *outcome.schedule, Space::Smem);
      const auto ranges = depth_ranges(*problem, request.solve.constraints, *outcome.schedule, answer.room);
      step.least = least_depths(
          *problem, *outcome.schedule, ranges, [&](const PeriodBracket& bracket) { return !less(answer.limit, bracket.high); },
          StopAfter(stop, deadline.left()).token());
      step.fits = step.least.end == LeastDepths::End::Found && step.least.bytes <= answer.room;
      answer.ended &= step.least.end != LeastDepths::End::GaveUp;
      if (step.fits && (!answer.best || step.least.bytes < answer.steps[*answer.best].least.bytes)) {
        answer.best = answer.steps.size();
        deepen(*problem, request.solve.constraints, step.least, outcome);
        answer.problem = *std::move(problem);
        answer.outcome = std::move(outcome);
      }
    }
    const bool hopeless = place == 1 && !step.ii;
    answer.steps.push_back(std::move(step));
    if (hopeless) break;
  }
  return answer;
}

}  // namespace heddle::solver
