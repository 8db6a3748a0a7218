// Every op gets as long as it could matter to anybody: latency, window, unit use, hand-off, hold and release.
#include "solver/search/serial.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/analysis/bounds.h"
#include "core/base/saturate.h"
#include "core/check/checker.h"
#include "solver/encoding/finish_schedule.h"
#include "solver/encoding/user.h"

namespace heddle::solver {
namespace {

std::vector<Cycle> serial_lengths(const Problem& problem) {
  std::vector<Cycle> lengths(problem.ops.size(), 1);
  const auto raise = [&](OpId op, Cycle cycles) { lengths[op.index()] = std::max(lengths[op.index()], cycles); };
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const Op& op = problem.ops[v];
    raise(OpId(v), std::max(op.latency, op.window));
    for (const UnitUse& use : op.uses) raise(OpId(v), use.offset + use.duration);
  }
  for (const Edge& e : problem.edges) {
    raise(e.from, e.handoff + e.latency);
    raise(e.to, e.hold);
  }
  for (const Channel& c : problem.channels)
    for (const Reader& r : c.readers) raise(r.op, r.release + r.signal);
  return lengths;
}

/// Ops in an order that respects the dependences inside one iteration.
std::vector<std::size_t> dependence_order(const Problem& problem) {
  std::vector<int> waiting(problem.ops.size(), 0);
  std::vector<std::vector<std::size_t>> next(problem.ops.size());
  for (const Edge& e : problem.edges) {
    if (e.distance != 0) continue;
    ++waiting[e.to.index()];
    next[e.from.index()].push_back(e.to.index());
  }
  std::vector<std::size_t> order;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (waiting[v] == 0) order.push_back(v);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const std::size_t to : next[order[i]])
      if (--waiting[to] == 0) order.push_back(to);
  return order;
}

}  // namespace

Cycle serial_ii(const Problem& problem) {
  Cycle total = 1;
  for (const Cycle length : serial_lengths(problem)) total = sat_add(total, length);
  return total;
}

Schedule serial_schedule(const Problem& problem, const Constraints& constraints, Cycle ii) {
  const std::vector<Cycle> lengths = serial_lengths(problem);
  const GroupId rest(problem.has_producer_group() ? 1 : 0);
  Schedule schedule;
  schedule.ii = ii;
  schedule.ops.assign(problem.ops.size(), Placement{0, rest});
  Cycle now = 0;
  for (const std::size_t v : dependence_order(problem)) {
    schedule.ops[v] = {now, problem.ops[v].variable_latency ? GroupId(0) : rest};
    now = sat_add(now, lengths[v]);
  }
  schedule.groups.resize(static_cast<std::size_t>(std::max(1, problem.max_groups)));
  finish_schedule(problem, constraints, schedule);
  return schedule;
}

std::optional<Schedule> legal_serial(const Problem& problem, const Constraints& constraints, std::optional<Cycle> ii) {
  const Cycle least = sat_add(serial_ii(problem), stretch(constraints));
  if (least >= kNoFiniteII || ii.value_or(least) < least) return std::nullopt;
  Schedule simple = serial_schedule(problem, constraints, ii.value_or(least));
  if (!check(problem, simple, constraints).valid()) return std::nullopt;
  simple.name = fmt::format("one after the other, II {}", simple.ii);
  return simple;
}

}  // namespace heddle::solver
