#include "core/dump/program_period.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/cycle_ratio.h"
#include "core/dump/native.h"

namespace heddle::dump {
namespace {

/// What takes no issue time is not in the program: it neither waits nor stands in a group's order.
bool issues(const DumpNode& node) { return node.super || node.self_latency > 0; }

/// The ops of `node`'s group that wait where its barrier is: itself, else those that reach it (or that it reaches) through ops of
/// the same group that are not in the program.
std::vector<std::size_t> waiting(const DumpLoop& loop, const std::vector<std::int64_t>& groups, std::size_t node, bool forward) {
  std::vector<std::size_t> found, open{node};
  std::set<std::size_t> seen{node};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (issues(loop.nodes[at])) {
      found.push_back(at);
      continue;
    }
    for (const DumpEdge& e : loop.edges) {
      const std::size_t here = forward ? e.from : e.to, next = forward ? e.to : e.from;
      if (here == at && e.distance == 0 && groups[next] == groups[node] && seen.insert(next).second) open.push_back(next);
    }
  }
  return found;
}

std::vector<ProgramStep> program_graph(const DumpLoop& loop) {
  std::vector<ProgramStep> steps;
  const std::vector<std::int64_t> groups = groups_of_nodes(loop);
  std::set<std::size_t> waits;
  for (const DumpEdge& e : loop.edges) {
    // What every group computes for itself is handed to none.
    const bool copied = loop.nodes[e.from].group == kReplicated;
    const bool cut = groups[e.from] >= 0 && groups[e.to] >= 0 && groups[e.from] != groups[e.to] && !copied;
    const Cycle handoff = cut ? crossing_cost(e) : 0;
    if (handoff > 0)  // one waits for a free slot, the other for a full one
      for (const bool forward : {false, true})
        for (const std::size_t op : waiting(loop, groups, forward ? e.to : e.from, forward)) waits.insert(op);
    steps.push_back({ProgramStep::Kind::Dependence, e.from, e.to, e.latency + handoff, handoff, e.distance});
  }
  std::map<std::int64_t, std::vector<std::size_t>> streams;
  for (std::size_t i = 0; i < loop.nodes.size(); ++i)
    if (loop.nodes[i].super) steps.push_back({ProgramStep::Kind::Stream, i, i, loop.nodes[i].latency, 0, 1});  // one run after the other
  for (std::size_t i = 0; i < loop.nodes.size(); ++i)
    if (loop.nodes[i].group >= 0 && issues(loop.nodes[i])) streams[loop.nodes[i].group].push_back(i);
  for (auto& [group, order] : streams) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return *loop.nodes[a].cycle < *loop.nodes[b].cycle; });
    for (std::size_t i = 0; i + 1 < order.size(); ++i)
      steps.push_back({ProgramStep::Kind::Stream, order[i], order[i + 1], loop.nodes[order[i]].self_latency, 0, 0});
    std::erase_if(order, [&](std::size_t v) { return !waits.contains(v); });
    if (order.size() > 1) steps.push_back({ProgramStep::Kind::Wrap, order.back(), order.front(), 0, 0, 1});
  }
  return steps;
}

}  // namespace

DumpPeriod program_period(const DumpLoop& loop) {
  const std::vector<ProgramStep> steps = program_graph(loop);
  std::vector<RatioEdge> edges;
  for (const ProgramStep& s : steps) edges.push_back({s.from, s.to, s.weight, s.distance});
  const CycleRatio ratio = max_cycle_ratio(loop.nodes.size(), edges);
  DumpPeriod period{ratio.impossible, ratio.weight, ratio.tokens, {}};
  for (const std::size_t e : ratio.cycle) period.cycle.push_back(steps[e]);
  // From the op that the loop-carried step leads to: the way then reads like an iteration.
  const auto carried = std::find_if(period.cycle.begin(), period.cycle.end(), [](const ProgramStep& s) { return s.distance > 0; });
  if (carried != period.cycle.end()) std::rotate(period.cycle.begin(), carried + 1, period.cycle.end());
  return period;
}

std::string sentence(const DumpLoop& loop, const DumpPeriod& period) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, period.cycle.size()); ++i) {
    const ProgramStep& s = period.cycle[i];
    text += fmt::format("{}{} {}", i ? ", " : "", loop.nodes[s.from].name, s.weight - s.handoff);
    if (s.handoff > 0) text += fmt::format(" + {} hand-off", s.handoff);
    if (s.kind == ProgramStep::Kind::Stream) text += " issue";
    if (s.kind == ProgramStep::Kind::Wrap) text += " (waits in order)";
  }
  if (period.cycle.size() > kShown) text += fmt::format(", {} more", period.cycle.size() - kShown);
  if (!period.cycle.empty()) text += fmt::format(", back to {}", loop.nodes[period.cycle.front().from].name);
  return text;
}

}  // namespace heddle::dump
