// Ops that start together are put apart, rings on the limiting cycle get slots as long as that helps, and then the earliest retiming of
// that order gives the starts.
#include "core/analysis/order_worth.h"

#include <algorithm>

#include "core/analysis/channels.h"
#include "core/analysis/retime.h"

namespace heddle {
namespace {

/// Earliest native starts inside one iteration, to choose among ops that start together.
std::vector<Cycle> earliest(const Problem& problem) {
  std::vector<Cycle> starts(problem.ops.size(), 0);
  for (std::size_t round = 0; round < problem.ops.size(); ++round)
    for (const Edge& e : problem.edges)
      if (e.distance == 0) starts[e.to.index()] = std::max(starts[e.to.index()], starts[e.from.index()] + e.latency);
  return starts;
}

/// Distinct starts in the same order: time is stretched, and ops that started together follow each other by rank. Ranks
/// respect every dependence between such ops (a circle of them would take an iteration) and, where these leave a choice, put
/// a reader before the next writer of its ring.
void separate_ties(const Problem& problem, Schedule& schedule) {
  const std::size_t n = problem.ops.size();
  struct Waiting {
    int must = 0, should = 0;
  };
  std::vector<Waiting> waiting(n);
  std::vector<std::vector<std::size_t>> must(n), should(n);
  for (const Edge& e : problem.edges) {
    if (schedule.start(e.to) + e.distance * schedule.ii != schedule.start(e.from) || e.from == e.to) continue;
    must[e.from.index()].push_back(e.to.index());
    ++waiting[e.to.index()].must;
  }
  for (const Channel& channel : problem.channels)
    for (const Reader& r : channel.readers) {
      const Cycle age = schedule.start(r.op) + r.distance * schedule.ii - schedule.start(channel.writer);
      if (age < schedule.ii || age % schedule.ii != 0 || r.op == channel.writer) continue;
      should[r.op.index()].push_back(channel.writer.index());
      ++waiting[channel.writer.index()].should;
    }
  const std::vector<Cycle> native = earliest(problem);
  const auto better = [&](std::size_t a, std::size_t b) {
    const bool a_early = waiting[a].should > 0, b_early = waiting[b].should > 0;
    return a_early != b_early ? b_early : native[a] < native[b];
  };
  std::vector<bool> ranked(n, false);
  std::vector<Cycle> rank(n, 0);
  for (std::size_t count = 0; count < n; ++count) {
    std::size_t next = n;
    for (std::size_t v = 0; v < n; ++v)
      if (!ranked[v] && waiting[v].must == 0 && (next == n || better(v, next))) next = v;
    if (next == n) break;
    ranked[next] = true;
    rank[next] = static_cast<Cycle>(count);
    for (const std::size_t v : must[next]) --waiting[v].must;
    for (const std::size_t v : should[next]) --waiting[v].should;
  }
  const Cycle stretch = static_cast<Cycle>(n) + 1;
  for (std::size_t v = 0; v < n; ++v) schedule.ops[v].start = schedule.ops[v].start * stretch + rank[v];
  schedule.ii *= stretch;
}

/// One more slot for a ring on the limiting cycle; false when none helps or fits. An order that cannot run without the slot
/// gets it even if memory is exceeded, which the checker will say.
bool deepen(const Problem& problem, Schedule& schedule, const Period& period) {
  for (const EventEdge& e : period.cycle) {
    if (e.kind != EventEdge::Kind::Credit) continue;
    int& depth = schedule.depths[e.channel.index()];
    if (depth >= problem.channel(e.channel).max_depth) continue;
    ++depth;
    if (period.deadlock || memory_fits(problem, schedule)) return true;
    --depth;
  }
  return false;
}

}  // namespace

OrderWorth order_worth(const Problem& problem, const Schedule& order) {
  OrderWorth worth{{}, order};
  Schedule& schedule = worth.schedule;
  separate_ties(problem, schedule);
  derive_groups(problem, schedule);
  schedule.depths.clear();
  for (const Channel& channel : problem.channels) schedule.depths.push_back(channel_exists(channel, schedule) ? 1 : 0);
  do {
    worth.period = sustainable_period(problem, schedule);
  } while (deepen(problem, schedule, worth.period));
  if (auto retimed = earliest_retiming(problem, schedule)) {
    schedule = *std::move(retimed);
    normalize_starts(schedule);
  }
  return worth;
}

}  // namespace heddle
