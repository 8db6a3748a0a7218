#include "core/analysis/bounds.h"

#include <fmt/format.h>

#include <set>

#include "core/analysis/cycle_ratio.h"
#include "core/analysis/usage_curve.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"

namespace heddle {
namespace {

/// "A + B + C", at most six names.
std::string sum_of_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i ? " + " : "") + names[i];
  if (names.size() > kShown) text += fmt::format(" + {} more", names.size() - kShown);
  return text;
}

using Kind = BoundFact::Kind;

void raise(BoundFact& best, Cycle bound, auto&& sentence) {
  if (bound <= best.bound) return;
  best.sentence = sentence();
  best.bound = bound;
}

void keep(Bounds& bounds, const BoundFact& fact) {
  if (fact.bound > 0) bounds.facts.push_back(fact);
}

struct NamedUse {
  OpId id;
  const Op* op;
  UnitUse use;
};

/// Uses that take more than capacity / (k + 1) run at most k at a time, so their durations fit k * II. With k = 1 these are
/// the uses that exclude each other; with k = capacity / amount of one use, that use overlapping its own next iterations.
BoundFact bound_of_unit(const Unit& unit, const std::vector<NamedUse>& uses, std::int64_t work) {
  BoundFact best;
  const auto names = [&](auto&& wanted) {
    std::vector<std::string> result;
    best.ops.clear();
    for (const NamedUse& u : uses)
      if (wanted(u) && (best.ops.empty() || best.ops.back() != u.id)) {
        result.push_back(u.op->name);
        best.ops.push_back(u.id);
      }
    return sum_of_names(result);
  };
  const auto everyone = [](const NamedUse&) { return true; };
  for (const NamedUse& u : uses) {
    if (u.use.amount > unit.capacity) {
      raise(best, kNoFiniteII, [&] {
        best.ops = {u.id};
        return fmt::format("{}: {} takes {} of a capacity of {}, so no II is possible", unit.name, u.op->name, u.use.amount, unit.capacity);
      });
      return best;
    }
  }
  raise(best, ceil_div(work, std::max<std::int64_t>(1, unit.capacity)), [&] {
    const char* need = uses.size() == 1 ? "needs" : "need";
    if (unit.capacity == 1) return fmt::format("{}: {} {} {} cycles", unit.name, names(everyone), need, work);
    return fmt::format("{}: {} {} {} at {} per cycle, {} cycles", unit.name, names(everyone), need, work, unit.capacity,
                       ceil_div(work, unit.capacity));
  });
  std::set<std::int64_t> at_once;
  for (const NamedUse& u : uses)
    if (u.use.amount > 0) at_once.insert(unit.capacity / u.use.amount);
  for (std::int64_t k : at_once) {
    const auto counts = [&](const NamedUse& u) { return u.use.amount > 0 && unit.capacity / u.use.amount <= k; };
    std::int64_t durations = 0;
    for (const NamedUse& u : uses)
      if (counts(u)) durations = sat_add(durations, u.use.duration);
    raise(best, ceil_div(durations, k), [&] {
      if (k == 1) return fmt::format("{}: {} exclude each other and need {} cycles", unit.name, names(counts), durations);
      return fmt::format("{}: {} run at most {} at a time and need {} cycles", unit.name, names(counts), k, durations);
    });
  }
  return best;
}

BoundFact bound_units(const Problem& problem, Bounds& bounds) {
  std::vector<std::vector<NamedUse>> uses(problem.units.size());
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    for (const UnitUse& use : problem.ops[v].uses)
      if (use.duration > 0) uses[use.unit.index()].push_back({OpId(v), &problem.ops[v], use});
  BoundFact best;
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    UnitLoad load;
    load.unit = UnitId(u);
    for (const NamedUse& named : uses[u]) load.work = sat_add(load.work, sat_mul(named.use.work(), named.use.amount));
    BoundFact bound = bound_of_unit(problem.units[u], uses[u], load.work);
    bound.unit = load.unit;
    keep(bounds, bound);
    load.bound = bound.bound;
    bounds.units.push_back(load);
    if (load.bound > best.bound) {
      best = bound;
      bounds.binding_unit = load.unit;
    }
  }
  bounds.res_mii = std::max<Cycle>(1, best.bound);
  return best;
}

Cycle bound_of(const CycleRatio& ratio) { return ratio.impossible ? kNoFiniteII : ceil_div(ratio.weight, ratio.tokens); }

/// `step` says how one edge of the cycle reads: "S0 -> ".
std::string sentence_of(const Problem& problem, const char* what, const std::vector<RatioEdge>& edges, const CycleRatio& ratio,
                        auto&& step) {
  std::string path;
  for (std::size_t e : ratio.cycle) path += step(e);
  path += problem.ops[edges[ratio.cycle.front()].from].name;
  if (ratio.impossible) return fmt::format("{} {} needs itself in the same iteration", what, path);
  return fmt::format("{} {}: {} cycles of latency over {}", what, path, ratio.weight, count_of(ratio.tokens, "iteration"));
}

std::vector<RatioEdge> dependence_edges(const Problem& problem) {
  std::vector<RatioEdge> edges;
  for (const Edge& e : problem.edges) edges.push_back({e.from.index(), e.to.index(), e.latency, e.distance});
  return edges;
}

BoundFact bound_recurrences(const Problem& problem, Bounds& bounds) {
  const auto edges = dependence_edges(problem);
  const CycleRatio ratio = max_cycle_ratio(problem.ops.size(), edges);
  BoundFact best;
  best.kind = Kind::Recurrence;
  if (ratio.cycle.empty()) return best;
  for (std::size_t e : ratio.cycle) {
    bounds.critical.edges.push_back(EdgeId(e));
    best.ops.push_back(OpId(edges[e].from));
  }
  best.edges = bounds.critical.edges;
  bounds.critical.latency = ratio.weight;
  bounds.critical.distance = static_cast<int>(std::min<std::int64_t>(ratio.tokens, 1 << 30));
  bounds.critical.bound = bound_of(ratio);
  bounds.rec_mii = std::max<Cycle>(1, bounds.critical.bound);
  raise(best, bounds.critical.bound, [&] {
    return sentence_of(problem, "recurrence", edges, ratio, [&](std::size_t e) { return problem.ops[edges[e].from].name + " -> "; });
  });
  keep(bounds, best);
  return best;
}

/// A slot is refilled when its last reader has released it, at the latest max_depth iterations after it was filled. Rings
/// for register values do not count: they need not exist.
BoundFact bound_credits(const Problem& problem, Bounds& bounds) {
  auto edges = dependence_edges(problem);
  std::vector<ChannelId> refilled;  // of the edges after the dependences
  for (std::size_t i = 0; i < problem.channels.size(); ++i) {
    const Channel& c = problem.channels[i];
    if (c.only_if_crossing) continue;
    for (const Reader& r : c.readers) {
      edges.push_back({r.op.index(), c.writer.index(), r.release, static_cast<std::int64_t>(c.max_depth) - r.distance});
      refilled.push_back(ChannelId(i));
    }
  }
  const CycleRatio ratio = max_cycle_ratio(problem.ops.size(), edges);
  BoundFact best;
  best.kind = Kind::Refill;
  if (ratio.cycle.empty()) return best;
  for (const std::size_t e : ratio.cycle) {
    best.ops.push_back(OpId(edges[e].from));
    if (e < problem.edges.size())
      best.edges.push_back(EdgeId(e));
    else
      best.channels.push_back(refilled[e - problem.edges.size()]);
  }
  bounds.credit_mii = std::max<Cycle>(1, bound_of(ratio));
  raise(best, bound_of(ratio), [&] {
    return sentence_of(problem, "refilling", edges, ratio, [&](std::size_t e) {
      const std::string& name = problem.ops[edges[e].from].name;
      if (e < problem.edges.size()) return name + " -> ";
      const Channel& c = problem.channel(refilled[e - problem.edges.size()]);
      return fmt::format("{} -> (frees {} of {}) ", name, c.name, c.max_depth);
    });
  });
  if (!best.channels.empty()) keep(bounds, best);
  return best;
}

BoundFact bound_issue(const Problem& problem, Bounds& bounds) {
  std::int64_t producer = 0, others = 0;
  OpId longest, homeless;
  std::vector<OpId> loads, rest;
  const int streams = problem.max_groups - (problem.has_producer_group() ? 1 : 0);
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const Op& op = problem.ops[v];
    if (!op.variable_latency && streams < 1) homeless = OpId(v);
    if (op.window > 0) (op.variable_latency ? loads : rest).push_back(OpId(v));
    std::int64_t& sum = op.variable_latency ? producer : others;
    sum = sat_add(sum, op.window);
    if (!longest.valid() || op.window > problem.op(longest).window) longest = OpId(v);
  }
  BoundFact best;
  best.kind = Kind::Issue;
  if (homeless.valid()) {
    raise(best, kNoFiniteII, [&] {
      best.ops = {homeless};
      return fmt::format("issue: no warp group is left for {}, at most {} allowed", problem.op(homeless).name, problem.max_groups);
    });
  }
  if (longest.valid()) {
    const Op& op = problem.op(longest);
    raise(best, op.window, [&] {
      best.ops = {longest};
      return fmt::format("issue: {} keeps its warps busy for {} cycles", op.name, op.window);
    });
  }
  raise(best, producer, [&] {
    best.ops = loads;
    return fmt::format("issue: the producer group needs {} cycles", producer);
  });
  raise(best, ceil_div(others, std::max(1, streams)), [&] {
    best.ops = rest;
    return fmt::format("issue: {} cycles of issue windows on {}", others, count_of(streams, "warp group"));
  });
  bounds.issue_mii = std::max<Cycle>(1, best.bound);
  keep(bounds, best);
  return best;
}

}  // namespace

Bounds compute_bounds(const Problem& problem) {
  Bounds bounds;
  BoundFact best;
  best.sentence = "nothing limits II: no unit is used, no recurrence, no issue time";
  for (BoundFact candidate :
       {bound_units(problem, bounds), bound_recurrences(problem, bounds), bound_credits(problem, bounds), bound_issue(problem, bounds)}) {
    if (candidate.bound > best.bound) best = std::move(candidate);
  }
  bounds.sentence = std::move(best.sentence);
  return bounds;
}

bool monotone_in_ii(const Problem& problem) {
  return std::all_of(problem.ops.begin(), problem.ops.end(), [](const Op& op) {
    return std::all_of(op.uses.begin(), op.uses.end(), [](const UnitUse& u) { return u.offset == 0 || u.duration == 0; });
  });
}

}  // namespace heddle
