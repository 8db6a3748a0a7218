// Absolute cycles become differences to one more node, the cycle 0.
#include "solver/search/demand_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/analysis/bounds.h"
#include "core/analysis/cycle_ratio.h"
#include "core/base/integer_division.h"
#include "solver/encoding/closure.h"

namespace heddle::solver {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;  ///< cycles beyond that are left out

struct Graph {
  std::vector<RatioEdge> edges;
  std::vector<std::string> words;           ///< of every edge, for the sentence
  std::vector<const UserConstraint*> from;  ///< nullptr: not a user's

  void add(RatioEdge edge, std::string text, const UserConstraint* constraint = nullptr) {
    if (std::abs(edge.weight) > kLargest) return;
    edges.push_back(edge);
    words.push_back(std::move(text));
    from.push_back(constraint);
  }
};

void add_problem(Graph& graph, const Problem& problem, const Constraints& constraints) {
  for (const Edge& e : problem.edges) {
    const Cycle apart = e.latency + (never_same_group(problem.op(e.from), problem.op(e.to)) ? e.handoff : 0);
    graph.add({e.from.index(), e.to.index(), apart, e.distance},
              fmt::format("{} -> {} takes {}", problem.op(e.from).name, problem.op(e.to).name, apart));
  }
  for (const Channel& c : problem.channels) {
    if (c.only_if_crossing) continue;
    std::int64_t depth = c.max_depth;
    for (const UserConstraint& u : constraints)
      if (u.enabled && u.kind == ConstraintKind::MaxDepth && u.channel == c.name) depth = std::min(depth, u.high);
    for (const Reader& r : c.readers)
      graph.add({r.op.index(), c.writer.index(), r.release, depth - r.distance},
                fmt::format("{} frees {} ({} slots)", problem.op(r.op).name, c.name, depth));
  }
}

void add_demand(Graph& graph, const Problem& problem, const UserConstraint& c) {
  const std::size_t zero = problem.ops.size();
  const std::string text = fmt::format("'{}'", c.name);
  const auto limits = [&](Cycle low, Cycle high) {
    for (const std::string& name : c.ops) {
      const std::size_t op = problem.find_op(name).index();
      graph.add({zero, op, low, 0}, text, &c);
      graph.add({op, zero, -std::clamp(high, -kLargest - 1, kLargest + 1), 0}, text, &c);
    }
  };
  switch (c.kind) {
    case ConstraintKind::Pin: limits(c.low, c.low); break;
    case ConstraintKind::Range: limits(c.low, c.high); break;
    case ConstraintKind::Before:
      if (c.ops.size() == 2) graph.add({problem.find_op(c.ops[0]).index(), problem.find_op(c.ops[1]).index(), c.low, 0}, text, &c);
      break;
    case ConstraintKind::EarlierStage:
      if (c.ops.size() == 2) graph.add({problem.find_op(c.ops[0]).index(), problem.find_op(c.ops[1]).index(), 1, 1 - c.low}, text, &c);
      break;
    case ConstraintKind::MaxStages:
      if (c.high >= 1 && c.high <= 1024)
        for (std::size_t v = 0; v < zero; ++v) graph.add({v, zero, 1, c.high}, text, &c);
      break;
    default: break;
  }
}

DemandBound bound_of_cycles(const Problem& problem, const Constraints& constraints) {
  Graph graph;
  add_problem(graph, problem, constraints);
  const std::size_t of_problem = graph.edges.size();
  for (const UserConstraint& c : constraints)
    if (c.enabled) add_demand(graph, problem, c);
  if (graph.edges.size() == of_problem) return {};
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    graph.add({problem.ops.size(), v, 0, 0}, fmt::format("{} starts at 0 or later", problem.ops[v].name));
  const CycleRatio ratio = max_cycle_ratio(problem.ops.size() + 1, graph.edges);
  const bool demanded = std::any_of(ratio.cycle.begin(), ratio.cycle.end(), [&](std::size_t e) { return graph.from[e] != nullptr; });
  if (!demanded) return {};
  std::string sentence;
  for (const std::size_t e : ratio.cycle)
    if (sentence.find(graph.words[e]) == std::string::npos) sentence += (sentence.empty() ? "" : ", ") + graph.words[e];
  if (ratio.impossible) return {kNoFiniteII, "no II is large enough, because these cannot hold together: " + sentence};
  return {ceil_div(ratio.weight, ratio.tokens), "demands and dependences: " + sentence};
}

}  // namespace

DemandBound demand_bound(const Problem& problem, const Constraints& constraints) {
  DemandBound bound = bound_of_cycles(problem, constraints);
  for (const UserConstraint& c : constraints)
    if (c.enabled && c.kind == ConstraintKind::IIRange && c.low > bound.bound)
      bound = {c.low, fmt::format("'{}' demands an II of at least {}", c.name, c.low)};
  return bound;
}

}  // namespace heddle::solver
