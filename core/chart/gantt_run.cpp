// Rows from the schedule's timeline, one bar per simulated op, lanes by first fit.
#include "core/chart/gantt_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/chart/gantt_facts.h"

namespace heddle {

GanttModel build_run_gantt(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline) {
  GanttModel model = build_gantt(problem, schedule, {GanttMode::Unrolled, 1, nullptr});
  std::vector<GanttBar> like(problem.ops.size());
  for (const GanttBar& bar : model.bars) like[bar.op.index()] = bar;
  model.mode = GanttMode::Pipeline;
  model.bars.clear();
  model.arrows.clear();
  model.marks.clear();
  model.lanes.clear();
  model.begin = 0;
  model.end = 1;

  std::map<std::int64_t, Cycle> iteration_begin;
  for (const SimulatedOp& run : timeline) {
    const Op& op = problem.op(run.op);
    const UnitUse* use = primary_use(problem, op);
    GanttBar bar = like[run.op.index()];
    const Cycle length = bar.end - bar.begin;
    bar.iteration = static_cast<int>(run.iteration);
    bar.begin = run.start + (use ? use->offset : 0);
    bar.end = bar.begin + length;
    bar.window_end = run.issue + op.window;
    bar.latency_end = run.end;
    model.end = std::max({model.end, bar.end, bar.window_end, bar.latency_end});
    const auto [found, fresh] = iteration_begin.try_emplace(run.iteration, run.start);
    if (!fresh) found->second = std::min(found->second, run.start);
    model.bars.push_back(std::move(bar));
  }
  std::sort(model.bars.begin(), model.bars.end(), [](const GanttBar& a, const GanttBar& b) {
    return std::tie(a.row, a.begin, a.op, a.iteration) < std::tie(b.row, b.begin, b.op, b.iteration);
  });
  std::vector<std::vector<Cycle>> free(model.rows.size());
  for (GanttBar& bar : model.bars) {
    auto& lanes = free[bar.row];
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](Cycle until) { return until <= bar.begin; });
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), 0);
    *lane = bar.end;
    bar.lane = static_cast<int>(lane - lanes.begin());
  }
  for (std::size_t r = 0; r < model.rows.size(); ++r) model.rows[r].lanes = std::max<int>(1, static_cast<int>(free[r].size()));
  std::sort(model.bars.begin(), model.bars.end(), [](const GanttBar& a, const GanttBar& b) {
    return std::tie(a.row, a.lane, a.begin, a.op) < std::tie(b.row, b.lane, b.begin, b.op);
  });

  std::map<std::pair<std::size_t, int>, std::size_t> bar_of;
  for (std::size_t b = 0; b < model.bars.size(); ++b) bar_of[{model.bars[b].op.index(), model.bars[b].iteration}] = b;
  for (std::size_t e = 0; e < problem.edges.size(); ++e) {
    const Edge& edge = problem.edges[e];
    for (const auto& [key, to] : bar_of) {
      if (key.first != edge.to.index()) continue;
      const auto from = bar_of.find({edge.from.index(), key.second - edge.distance});
      if (from == bar_of.end() || from->second == to) continue;
      model.arrows.push_back({EdgeId(e), from->second, to, schedule.group(edge.from) != schedule.group(edge.to), edge.distance > 0});
    }
  }
  for (const auto& [iteration, at] : iteration_begin) model.marks.push_back({at, fmt::format("iteration {}", iteration), true});
  return model;
}

}  // namespace heddle
