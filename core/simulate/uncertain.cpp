#include "core/simulate/uncertain.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "core/analysis/turns.h"
#include "core/machine/fitted.h"
#include "core/simulate/barriers.h"
#include "core/simulate/pace.h"
#include "core/simulate/simulate.h"

namespace heddle {
namespace {

/// Every op's latency becomes `percent[kind]` of what it is, but not less than it holds its stream or a unit.
void scale_latencies(Problem& problem, const std::map<std::string, int>& percent) {
  std::vector<Cycle> more;
  for (Op& op : problem.ops) {
    Cycle least = op.window;
    for (const UnitUse& use : op.uses) least = std::max(least, use.offset + use.duration);
    const auto scaled = [&](Cycle latency) { return std::max(std::min(least, latency), latency * percent.at(op.kind) / 100); };
    more.push_back(scaled(op.latency) - op.latency);
    op.latency += more.back();
    for (LatencyCase& latency : op.spread.cases) latency.cycles = scaled(latency.cycles);
  }
  for (Edge& edge : problem.edges)
    if (edge.value.valid()) edge.latency = std::max<Cycle>(0, edge.latency + more[edge.from.index()]);
}

}  // namespace

UncertainNumbers uncertain_numbers(const Problem& problem, const Machine& machine, int count, std::uint64_t seed) {
  UncertainNumbers numbers;
  numbers.streams = machine.streams;
  const FittedNumber range = fitted_range(machine, "streams.arithmetic_percent");
  std::mt19937_64 random(seed);
  for (int k = 0; k < count; ++k) {
    Problem sample = problem;
    std::map<std::string, int> percent;
    for (const Op& op : sample.ops)
      if (!percent.contains(op.kind)) percent[op.kind] = 100 - kLatencyPercent + static_cast<int>(random() % (2 * kLatencyPercent + 1));
    scale_latencies(sample, percent);
    StreamCosts streams = machine.streams;
    streams.arithmetic_percent = range.most - (range.most - range.least) * k / std::max(1, count - 1);
    pace(sample, streams);
    numbers.samples.push_back(std::move(sample));
  }
  return numbers;
}

PeriodSpread period_spread(const UncertainNumbers& numbers, const Schedule& schedule, const std::stop_token& stop) {
  SimulateOptions options;
  options.arbitration = Arbitration::Interleaved;
  options.turns = schedule.turns;
  options.turn_cost = numbers.streams.turn;
  options.trips = 256;
  options.most_ops = 200'000;  // fewer trips of large loops
  options.stop = stop;
  std::vector<double> periods;
  // Where no turns are kept, the distance between groups is one more thing that is not known.
  const bool by_chance = !numbers.samples.empty() && !contested_turns(numbers.samples.front(), schedule).empty() &&
                         (!schedule.turns || kept_turns(numbers.samples.front(), schedule).empty());
  for (const Problem& sample : numbers.samples) {
    if (by_chance && !periods.empty()) options.apart = static_cast<Cycle>(periods.front() * static_cast<double>(periods.size() % 8) / 8);
    Problem charged = sample;
    charge_barriers(charged, schedule, numbers.streams);
    const Simulation run = simulate(charged, schedule, options);
    if (!run.fault.empty() || stop.stop_requested()) return {};
    periods.push_back(run.period.cycles());
  }
  if (periods.empty()) return {};
  std::sort(periods.begin(), periods.end());
  const double sum = std::accumulate(periods.begin(), periods.end(), 0.0);
  return {sum / static_cast<double>(periods.size()), periods[(periods.size() * 95 - 1) / 100]};
}

}  // namespace heddle
