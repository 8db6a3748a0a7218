#include "core/simulate/tally.h"

#include <algorithm>

namespace heddle {

Cycle end_of(const Op& op) {
  Cycle end = std::max(op.latency, op.window);
  for (const UnitUse& use : op.uses) end = std::max(end, use.offset + use.duration);
  return end;
}

namespace {

StallReason reason_of(const Problem& problem, const EventEdge& event) {
  if (event.kind == EventEdge::Kind::Credit) return StallReason::Credit;
  if (event.kind == EventEdge::Kind::Unit) return StallReason::Unit;
  return event.edge.valid() && problem.edge(event.edge).value.valid() ? StallReason::Data : StallReason::Order;
}

}  // namespace

void Tally::repeat(const Tally& before, std::int64_t times) {
  const auto again = [&](std::vector<Cycle>& now, const std::vector<Cycle>& then) {
    for (std::size_t i = 0; i < now.size(); ++i) now[i] += (now[i] - then[i]) * times;
  };
  again(clock_, before.clock_);
  again(busy_, before.busy_);
  again(idle_, before.idle_);
  again(waited_, before.waited_);
  again(held_, before.held_);
  again(queued_, before.queued_);
}

void Tally::report(Simulation& result) const {
  result.groups.assign(clock_.size(), {});
  result.ops.assign(held_.size(), {});
  for (std::size_t g = 0; g < clock_.size(); ++g) {
    result.groups[g].busy = busy_[g];
    result.groups[g].idle = idle_[g] + result.cycles - clock_[g];
  }
  for (std::size_t v = 0; v < held_.size(); ++v) {
    result.ops[v].held = held_[v];
    result.ops[v].queued = queued_[v];
  }
  for (std::size_t e = 0; e < waited_.size(); ++e) {
    if (waited_[e] == 0) continue;
    const EventEdge& event = (*events_)[e];
    const StallReason reason = reason_of(*problem_, event);
    const auto kind = static_cast<std::size_t>(reason);
    result.ops[event.to.index()].stalls[kind] += waited_[e];
    result.groups[group_of_[event.to.index()]].stalls[kind] += waited_[e];
    result.waits.push_back({event.to, event.from, reason, event.what, waited_[e]});
  }
  std::stable_sort(result.waits.begin(), result.waits.end(), [](const Wait& a, const Wait& b) { return a.cycles > b.cycles; });
}

}  // namespace heddle
