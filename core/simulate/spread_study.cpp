#include "core/simulate/spread_study.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/channels.h"
#include "core/analysis/least_depths.h"

namespace heddle {
namespace {

constexpr std::int64_t kSpreadTrips = 20'000;
constexpr std::int64_t kMostSimulated = 4'000'000;  ///< ops of a run

void simulate_row(const Problem& problem, const Schedule& schedule, const StudyOptions& options, SpreadStudy& study, SpreadRow& row) {
  SimulateOptions run;
  run.trips = study.trips;
  run.arbitration = options.arbitration;
  run.jitter.seed = options.seed;
  run.stop = options.stop;
  std::vector<double> periods;
  for (int i = 0; i < std::max(2, options.runs); ++i, ++run.jitter.seed) {
    const Simulation result = simulate(problem, schedule, run);
    row.fault = result.fault;
    if (!row.fault.empty()) return;
    periods.push_back(result.period.cycles());
    study.unordered = result.unordered;
  }
  const auto count = static_cast<double>(periods.size());
  for (const double period : periods) row.mean += period / count;
  double squares = 0;
  for (const double period : periods) squares += (period - row.mean) * (period - row.mean);
  row.error = std::sqrt(squares / (count - 1) / count);
}

}  // namespace

SpreadStudy spread_study(const Problem& problem, const Schedule& schedule, const StudyOptions& options) {
  SpreadStudy study;
  study.trips =
      std::clamp<std::int64_t>(kMostSimulated / static_cast<std::int64_t>(std::max<std::size_t>(1, problem.ops.size())), 500, kSpreadTrips);
  std::vector<DepthRange> ranges;
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const Channel& channel = problem.channels[c];
    if (schedule.depths[c] == 0 || channel.space != Space::Smem || problem.op(channel.writer).spread.empty()) continue;
    study.rings.emplace_back(c);
    ranges.push_back({ChannelId(c), 1, std::max(channel.max_depth, schedule.depths[c])});
  }
  if (ranges.empty()) return study;
  const auto row_of = [&](const std::vector<int>& depths, PeriodBracket bracket) {
    Schedule other = schedule;
    other.depths = depths;
    SpreadRow row;
    for (const ChannelId ring : study.rings) row.depths.push_back(other.depth(ring));
    row.bytes = allocated(problem, other, Space::Smem);
    row.fits = row.bytes <= problem.limits.smem_bytes;
    row.now = depths == schedule.depths;
    row.bracket = std::move(bracket);
    simulate_row(problem, other, options, study, row);
    study.rows.push_back(std::move(row));
  };
  for (;;) {
    const std::vector<SpreadRow>& rows = study.rows;
    const LeastDepths better = least_depths(
        problem, schedule, ranges,
        [&](const PeriodBracket& bracket) { return rows.empty() || less(bracket.high, rows.back().bracket.high); }, options.stop);
    study.cut = better.end == LeastDepths::End::GaveUp || rows.size() == kMostSpreadRows;
    if (better.end != LeastDepths::End::Found || study.cut) break;
    row_of(better.depths, better.bracket);
  }
  if (std::none_of(study.rows.begin(), study.rows.end(), [](const SpreadRow& row) { return row.now; })) {
    row_of(schedule.depths, period_bracket(problem, schedule));
    std::stable_sort(study.rows.begin(), study.rows.end(), [](const SpreadRow& a, const SpreadRow& b) { return a.bytes < b.bytes; });
  }
  return study;
}

}  // namespace heddle
