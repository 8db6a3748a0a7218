// Measuring and ranking contenders.
#include "core/answers/scoreboard.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/analysis/channels.h"
#include "core/analysis/pipeline_program.h"

namespace heddle {
namespace {

/// Compares periods as the ratios they are; both have one.
bool shorter(const Period& a, const Period& b) { return a.weight * b.tokens < b.weight * a.tokens; }

/// What comes first: legal, illegal with a period, illegal without, no schedule.
int rank_class(const Contender& c) {
  if (!c.schedule) return 3;
  if (c.valid() && !c.period.deadlock) return 0;
  return c.period.deadlock ? 2 : 1;
}

}  // namespace

double SimulatedFigures::stalled() const { return std::accumulate(stalls.begin(), stalls.end(), 0.0); }

SimulatedFigures simulated_figures(const Kernel& kernel, const Machine& machine, const Changes& changes, const Problem& problem, const Schedule& schedule) {
  KernelRunOptions options;
  options.loop.arbitration = Arbitration::FirstCome;
  options.loop.most_ops = 5'000'000;  // a dozen contenders share the time that one simulation may take; beyond it extrapolates
  const KernelRun run = run_kernel(kernel, machine, changes, problem, schedule, options);
  SimulatedFigures figures;
  figures.fault = run.fault;
  if (!run.fault.empty()) return figures;
  figures.cycles = run.cycles;
  figures.period = run.sm.period.cycles();
  figures.microseconds = run.microseconds;
  figures.tflops = run.tflops;
  // The producer waits for slots nearly always, which is its business.
  const std::size_t first = run.sm.groups.size() > 1 ? 1 : 0;
  double time = 0;
  for (std::size_t g = first; g < run.sm.groups.size(); ++g) {
    const GroupTime& group = run.sm.groups[g];
    time += static_cast<double>(run.sm.cycles - group.idle);
    for (std::size_t r = 0; r < kStallReasons; ++r) figures.stalls[r] += static_cast<double>(group.stalls[r]);
  }
  for (double& share : figures.stalls) share = time > 0 ? share / time : 0;
  return figures;
}

const char* to_string(ContenderKind kind) {
  switch (kind) {
    case ContenderKind::Solver: return "solver";
    case ContenderKind::Hand: return "hand";
    case ContenderKind::Baseline: return "baseline";
    case ContenderKind::File: return "file";
  }
  return "file";
}

Contender measured(const Problem& problem, const Constraints& constraints, Contender c) {
  if (!c.schedule) return c;
  const Schedule& schedule = *c.schedule;
  c.verdict = check(problem, schedule, constraints);
  if (!c.verdict.valid())
    c.status = Status::Invalid;
  else if (c.status != Status::Optimal)
    c.status = Status::Feasible;
  c.period = sustainable_period(problem, schedule);
  c.usage = compute_usage(problem, schedule);
  c.stages = stage_count(schedule);
  c.barriers = static_cast<int>(ring_barriers(problem, schedule));
  for (const PipelineGroup& group : pipeline_program(problem, schedule).groups)
    c.waits += static_cast<int>(std::count_if(group.lines.begin(), group.lines.end(), [](const PipelineLine& line) {
      return line.kind == PipelineLine::Kind::Wait || line.kind == PipelineLine::Kind::Acquire;
    }));
  return c;
}

std::optional<double> gap_percent(const Scoreboard& board, const Contender& c) {
  if (!c.valid() || c.period.deadlock || board.lower_bound <= 0) return {};
  return 100.0 * (static_cast<double>(c.period.cycles()) / static_cast<double>(board.lower_bound) - 1);
}

std::vector<std::size_t> ranking(const Scoreboard& board) {
  std::vector<std::size_t> order(board.contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const Contender &a = board.contenders[i], &b = board.contenders[j];
    const int class_a = rank_class(a), class_b = rank_class(b);
    if (class_a != class_b) return class_a < class_b;
    return class_a <= 1 && shorter(a.period, b.period);
  });
  return order;
}

std::vector<std::string> beyond_bound(const Scoreboard& board) {
  std::vector<std::string> names;
  for (const Contender& c : board.contenders) {
    if (!c.valid() || c.period.deadlock || stage_count(*c.schedule) > board.bound_stages) continue;
    const Cycle reached = board.of_demands ? c.schedule->ii : std::max<Cycle>(1, c.period.cycles());
    if (reached < board.lower_bound) names.push_back(c.name);
  }
  return names;
}

}  // namespace heddle
