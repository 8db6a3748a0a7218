#include "core/simulate/robustness_study.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/bracket.h"
#include "core/analysis/channels.h"
#include "core/problem/changes.h"

namespace heddle {
namespace {

constexpr int kMostMore = 3;

JitterPoint point_at(const Problem& problem, const Schedule& schedule, const StudyOptions& options, int percent) {
  JitterPoint point;
  point.percent = percent;
  SimulateOptions run;
  run.trips = options.trips;
  run.arbitration = options.arbitration;
  run.jitter = {percent, options.shape, options.seed, options.every_op};
  run.stop = options.stop;
  const int runs = percent == 0 && !latencies_vary(problem) ? 1 : std::max(1, options.runs);
  for (int i = 0; i < runs; ++i, ++run.jitter.seed) {
    const Simulation result = simulate(problem, schedule, run);
    if (!result.fault.empty()) {
      point.fault = result.fault;
      return point;
    }
    point.mean += result.period.cycles() / runs;
    point.worst = std::max(point.worst, result.period.cycles());
  }
  return point;
}

/// `period`: with the numbers as they are.
NumberSide side_at(const Problem& present, const Schedule& schedule, const Change& change, const NumberTrial& trial, double period) {
  NumberSide side;
  side.period = period;
  Result<Problem> changed = trial.problem_at(change);
  if (!changed) {
    side.fault = changed.error().faults.empty() ? "impossible" : changed.error().faults.front().message;
    return side;
  }
  // Costs can move a tile between rings and registers, never here: a percentage changes no shape.
  if (changed->ops.size() != present.ops.size() || changed->channels.size() != present.channels.size()) {
    side.fault = "another problem";
    return side;
  }
  const Simulation result = simulate(*changed, schedule, trial.run);
  side.fault = result.fault;
  side.same = problem_hash(*changed) == problem_hash(present);
  if (side.fault.empty()) side.period = result.period.cycles();
  return side;
}

}  // namespace

std::vector<JitterPoint> jitter_study(const Problem& problem, const Schedule& schedule, const StudyOptions& options) {
  std::vector<JitterPoint> points;
  for (const int percent : options.percents) points.push_back(point_at(problem, schedule, options, percent));
  return points;
}

NumberStudy number_study(const Problem& problem, const Schedule& schedule, const Changes& numbers, const NumberTrial& trial) {
  NumberStudy study;
  study.percent = trial.percent;
  study.period = simulate(problem, schedule, trial.run).period.cycles();
  const auto side = [&](Change change, int percent) {
    change.effect = ChangeEffect::Percent;
    change.value = percent;
    return side_at(problem, schedule, change, trial, study.period);
  };
  for (const Change& number : numbers) {
    NumberRow row;
    row.number = number_name(number);
    row.values = values_of(problem, number);
    row.less = side(number, -trial.percent);
    row.more = side(number, trial.percent);
    for (const NumberSide* side : {&row.less, &row.more})
      if (side->fault.empty()) row.swing = std::max(row.swing, std::abs(side->period - study.period));
    study.rows.push_back(std::move(row));
  }
  std::stable_sort(study.rows.begin(), study.rows.end(), [](const NumberRow& a, const NumberRow& b) { return a.swing > b.swing; });
  return study;
}

DepthStudy depth_study(const Problem& problem, const Schedule& schedule, const StudyOptions& options) {
  DepthStudy study;
  study.percents = options.percents;
  std::vector<std::size_t> rings;
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    if (schedule.depths[c] > 0 && problem.op(problem.channels[c].writer).variable_latency) rings.push_back(c);
  const auto add = [&](const std::string& name, const std::vector<std::size_t>& which, int more) {
    Schedule deeper = schedule;
    for (const std::size_t c : which) deeper.depths[c] = std::max(1, deeper.depths[c] + more);
    if (more < 0 && deeper.depths == schedule.depths) return;
    DepthRow row{name, deeper.depths[which.front()], more, allocated(problem, deeper, Space::Smem), true, {}};
    row.fits = row.bytes <= problem.limits.smem_bytes;
    for (const int percent : options.percents) {
      const JitterPoint point = point_at(problem, deeper, options, percent);
      if (!point.fault.empty()) {
        row.periods.clear();
        break;
      }
      row.periods.push_back(point.mean);
    }
    study.rows.push_back(std::move(row));
  };
  if (rings.size() > 1)
    for (int more = -1; more <= kMostMore; ++more) add("", rings, more);
  for (const std::size_t c : rings)
    for (int more = -1; more <= kMostMore; ++more) add(problem.channels[c].name, {c}, more);
  return study;
}

}  // namespace heddle
