#include "app/window/chart/critical_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

void add(std::vector<OpId>& ops, OpId op) {
  if (std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(op);
}

std::string path(const Problem& problem, const std::vector<CycleStep>& cycle) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, cycle.size()); ++i) text += problem.op(cycle[i].from).name + " → ";
  if (cycle.size() > kMost) text += fmt::format("{} more → ", cycle.size() - kMost);
  return text + problem.op(cycle.front().from).name;
}

}  // namespace

CriticalModel build_critical(const Problem& problem, const Bounds& bounds, const Schedule& schedule, const Period& period) {
  CriticalModel model;
  std::vector<std::string> reasons;
  for (const UnitLoad& load : bounds.units) {
    if (load.bound != schedule.ii) continue;
    const Unit& unit = problem.unit(load.unit);
    model.lanes.push_back(unit_label(unit));
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      for (const UnitUse& use : problem.ops[v].uses)
        if (use.unit == load.unit && use.duration > 0 && use.amount > 0) add(model.ops, OpId(v));
    reasons.push_back(fmt::format("{} is busy in all {} cycles", unit.name, grouped(schedule.ii)));
  }
  if (bounds.rec_mii == schedule.ii && !bounds.critical.edges.empty()) {
    for (const EdgeId id : bounds.critical.edges) {
      const Edge& edge = problem.edge(id);
      model.cycle.push_back({edge.from, edge.to, edge.distance, true});
      add(model.ops, edge.from);
    }
    reasons.push_back(fmt::format("the recurrence {} takes {} cycles for {}", path(problem, model.cycle), grouped(bounds.critical.latency),
                                  count_of(bounds.critical.distance, "iteration")));
  }
  if (!reasons.empty()) {
    model.legend = fmt::format("II {} is set by: {}", grouped(schedule.ii), fmt::join(reasons, "; "));
    return model;
  }
  // Neither binds: the order itself does, if anything.
  const bool at_ii = !period.deadlock && period.cycles() == schedule.ii;
  for (const EventEdge& edge : period.cycle) {
    if (edge.from != edge.to) model.cycle.push_back({edge.from, edge.to, edge.tokens, edge.kind == EventEdge::Kind::Data});
    add(model.ops, edge.from);
  }
  const std::string drawn = model.cycle.empty() ? "" : fmt::format(" (drawn: {}, which limits this order)", path(problem, model.cycle));
  if (period.deadlock)
    model.legend = "this order deadlocks" + drawn;
  else if (at_ii || schedule.ii <= std::max(period.cycles(), bounds.min_ii()))
    model.legend = fmt::format("II {} is set by the interaction: see Explain{}", grouped(schedule.ii), drawn);
  else
    model.legend = fmt::format("nothing limits II {}: this order could run at {}{}", grouped(schedule.ii), grouped(period.cycles()), drawn);
  return model;
}

}  // namespace heddle::app
