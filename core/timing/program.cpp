// II is the maximum cycle ratio of the program's event graph with its turns on units, and starts are longest paths at that II.
#include "core/timing/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/channels.h"
#include "core/analysis/order_worth.h"
#include "core/analysis/registers.h"
#include "core/base/integer_division.h"
#include "core/base/text_style.h"
#include "core/check/checker.h"
#include "core/timing/unit_turns.h"

namespace heddle::timing {
namespace {

Schedule groups_of(const Problem& problem, const LoopProgram& program) {
  Schedule schedule;
  schedule.kernel = problem.kernel;
  schedule.machine = problem.machine;
  schedule.params = problem.params;
  schedule.layouts = choices_of(problem);
  schedule.ops.resize(problem.ops.size());
  schedule.groups.resize(program.streams.size());
  for (std::size_t g = 0; g < program.streams.size(); ++g)
    for (const StreamStep& step : program.streams[g]) schedule.ops[step.op.index()].group = GroupId(g);
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    schedule.depths.push_back(channel_exists(problem.channels[c], schedule) ? std::max(1, program.depths[c]) : 0);
  return schedule;
}

/// In words: the ops along the limiting cycle and what ties each to the next.
std::string limit_of(const Problem& problem, const ProgramGraph& graph, const CycleRatio& ratio) {
  if (ratio.cycle.empty()) return "nothing limits the period";
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, ratio.cycle.size()); ++i) {
    const std::size_t e = ratio.cycle[i];
    text +=
        fmt::format("{}{} {} ({})", i ? " + " : "", problem.ops[graph.edges[e].from].name, graph.edges[e].weight, graph.what(problem, e));
  }
  if (ratio.cycle.size() > kShown) text += fmt::format(" + {} more", ratio.cycle.size() - kShown);
  if (ratio.impossible) return "waits for itself: " + text;
  return fmt::format("{} = {} cycles over {}", text, ratio.weight, count_of(ratio.tokens, "iteration"));
}

LoopTiming timed(const Problem& problem, const LoopProgram& program, UnitSharing sharing) {
  LoopTiming timing;
  timing.schedule = groups_of(problem, program);
  const ProgramGraph graph = with_turns(problem, program, timing.schedule, sharing);
  const CycleRatio ratio = max_cycle_ratio(problem.ops.size(), graph.edges);
  timing.deadlock = ratio.impossible;
  timing.limit = limit_of(problem, graph, ratio);
  for (const std::size_t e : ratio.cycle)
    if (graph.origin[e].channel.valid()) timing.rings.push_back(graph.origin[e].channel);
  timing.schedule.ii = ratio.impossible ? 1 : std::max<Cycle>(1, ceil_div(ratio.weight, ratio.tokens));
  if (!ratio.impossible) {
    const auto starts = longest_paths(graph.edges, timing.schedule.ii, std::vector<Cycle>(problem.ops.size(), 0));
    for (std::size_t v = 0; v < starts.size(); ++v) timing.schedule.ops[v].start = starts[v];
  }
  derive_groups(problem, timing.schedule);
  set_least_budgets(problem, timing.schedule);
  return timing;
}

bool overfills_a_unit(const Problem& problem, const Schedule& schedule) {
  const Verdict verdict = check(problem, schedule);
  return std::any_of(verdict.violations.begin(), verdict.violations.end(), [](const Violation& v) { return v.family == "unit"; });
}

}  // namespace

LoopProgram program_of(const Problem& problem, const Schedule& schedule) {
  LoopProgram program;
  program.depths = schedule.depths;
  program.streams.resize(schedule.groups.size());
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    program.streams[schedule.ops[v].group.index()].push_back({OpId(v), schedule.stage(OpId(v))});
  for (auto& stream : program.streams)
    std::stable_sort(stream.begin(), stream.end(), [&](const StreamStep& a, const StreamStep& b) {
      return std::pair(schedule.slot(a.op), problem.op(a.op).window > 0) < std::pair(schedule.slot(b.op), problem.op(b.op).window > 0);
    });
  return program;
}

LoopTiming earliest_schedule(const Problem& problem, const LoopProgram& program) {
  LoopTiming timing = timed(problem, program, UnitSharing::Pairs);
  if (timing.deadlock) return timing;
  // What only three or more uses exceed together is no order of pairs; then every use waits for the one before.
  return overfills_a_unit(problem, timing.schedule) ? timed(problem, program, UnitSharing::OneAtATime) : timing;
}

LoopTiming timing_of_order(const Problem& problem, const Schedule& order) {
  OrderWorth worth = order_worth(problem, order);
  if (!worth.period.deadlock && overfills_a_unit(problem, worth.schedule))
    return timed(problem, program_of(problem, worth.schedule), UnitSharing::OneAtATime);
  LoopTiming timing{std::move(worth.schedule), worth.period.deadlock, worth.period.sentence, {}};
  set_least_budgets(problem, timing.schedule);
  return timing;
}

LoopTiming running_schedule(const Problem& problem, LoopProgram& program, std::vector<std::string>& log) {
  while (true) {
    LoopTiming timing = earliest_schedule(problem, program);
    if (!timing.deadlock) return timing;
    bool deeper = false;
    for (const ChannelId ring : timing.rings) {
      int& depth = program.depths[ring.index()];
      if (deeper || depth >= problem.channel(ring).max_depth) continue;
      ++depth;
      deeper = true;
      log.push_back(
          fmt::format("ring {} gets {} slots: with {} the program {}", problem.channel(ring).name, depth, depth - 1, timing.limit));
    }
    if (!deeper) return timing;
  }
}

}  // namespace heddle::timing
