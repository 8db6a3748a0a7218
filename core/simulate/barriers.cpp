#include "core/simulate/barriers.h"

#include <algorithm>
#include <map>

#include "core/simulate/pace.h"

namespace heddle {
namespace {

/// An op waits before its work begins, and arrives behind it.
void hold(Problem& problem, OpId at, Cycle wait, Cycle arrive) {
  Op& op = problem.ops[at.index()];
  op.window += wait + arrive;
  if (!op.asynchronous) delay_results(problem, at, wait);
}

bool is_product(const Problem& problem, const Op& op) {
  return op.asynchronous && std::any_of(op.uses.begin(), op.uses.end(), [&](const UnitUse& use) {
           return use.duration > 0 && problem.unit(use.unit).role == UnitRole::Tensor;
         });
}

}  // namespace

void charge_barriers(Problem& problem, const Schedule& schedule, const StreamCosts& costs) {
  for (Edge& edge : problem.edges) {
    const Op& product = problem.op(edge.from);
    // Products onto one accumulator do not wait for each other.
    if (schedule.group(edge.from) == schedule.group(edge.to) && is_product(problem, product) && edge.latency >= product.latency)
      edge.latency += costs.product_wait;
  }
  if (costs.wait == 0 && costs.arrive == 0) return;
  const auto when = [&](const Reader& reader) { return schedule.start(reader.op) + reader.distance * schedule.ii; };
  for (const Channel& channel : problem.channels) {
    std::map<GroupId, std::pair<const Reader*, const Reader*>> groups;  // first and last reader of each
    for (const Reader& reader : channel.readers) {
      const GroupId group = schedule.group(reader.op);
      if (group == schedule.group(channel.writer)) continue;
      auto& [first, last] = groups.try_emplace(group, &reader, &reader).first->second;
      if (when(reader) < when(*first)) first = &reader;
      if (when(reader) > when(*last)) last = &reader;
    }
    if (groups.empty()) continue;
    hold(problem, channel.writer, costs.wait, problem.op(channel.writer).asynchronous ? 0 : costs.arrive);
    for (const auto& [group, readers] : groups) {
      hold(problem, readers.first->op, costs.wait, 0);
      if (readers.second->signal > 0) hold(problem, readers.second->op, 0, costs.arrive);
    }
  }
}

}  // namespace heddle
