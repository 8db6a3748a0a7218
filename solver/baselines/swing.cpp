// Swing modulo scheduling (J. Llosa, A. Gonzalez, E. Ayguade, M. Valero, "Swing modulo scheduling: a
// lifetime-sensitive approach", PACT 1996): recurrences first, the most critical one first of all, every op next to a
// neighbour that is placed already and as near to it as possible; nothing is ever taken back.
#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/cycle_ratio.h"
#include "core/base/integer_division.h"
#include "core/base/text_style.h"
#include "solver/baselines/agents.h"
#include "solver/baselines/methods.h"
#include "solver/baselines/modulo_table.h"

namespace heddle::solver {
namespace {

using Set = std::vector<bool>;

bool any(const Set& set) { return std::find(set.begin(), set.end(), true) != set.end(); }

/// Ops that `from` reaches over dependences of any distance.
Set reach(const Problem& problem, Set from, bool forward) {
  for (bool grown = true; grown;) {
    grown = false;
    for (const Edge& e : problem.edges) {
      const std::size_t a = (forward ? e.from : e.to).index(), b = (forward ? e.to : e.from).index();
      if (!from[a] || from[b]) continue;
      from[b] = grown = true;
    }
  }
  return from;
}

Set both(const Set& a, const Set& b) {
  Set set(a.size());
  for (std::size_t v = 0; v < a.size(); ++v) set[v] = a[v] && b[v];
  return set;
}

/// The largest cycle ratio inside a strongly connected component.
Cycle recurrence_ii(const Problem& problem, const Set& component) {
  std::vector<RatioEdge> edges;
  for (const Edge& e : problem.edges)
    if (component[e.from.index()] && component[e.to.index()]) edges.push_back({e.from.index(), e.to.index(), e.latency, e.distance});
  const CycleRatio ratio = max_cycle_ratio(problem.ops.size(), edges);
  return ratio.tokens > 0 ? ceil_div(ratio.weight, ratio.tokens) : 0;
}

/// Recurrences by falling criticality, each with what lies on paths between it and those before; the rest last.
std::vector<Set> partial_order(const Problem& problem, bool recurrences) {
  const std::size_t n = problem.ops.size();
  struct Component {
    Set ops;
    Cycle ii;
  };
  std::vector<Component> components;
  Set seen(n, false);
  for (std::size_t v = 0; recurrences && v < n; ++v) {
    if (seen[v]) continue;
    Set alone(n, false);
    alone[v] = true;
    Set component = both(reach(problem, alone, true), reach(problem, alone, false));
    for (std::size_t w = 0; w < n; ++w) seen[w] = seen[w] || component[w];
    const bool loop =
        std::count(component.begin(), component.end(), true) > 1 ||
        std::any_of(problem.edges.begin(), problem.edges.end(), [&](const Edge& e) { return e.from == e.to && e.from.index() == v; });
    if (loop) components.push_back({component, recurrence_ii(problem, component)});
  }
  std::stable_sort(components.begin(), components.end(), [](const Component& a, const Component& b) { return a.ii > b.ii; });
  std::vector<Set> sets;
  Set taken(n, false);
  const auto add = [&](Set set) {
    for (std::size_t v = 0; v < n; ++v) {
      set[v] = set[v] && !taken[v];
      taken[v] = taken[v] || set[v];
    }
    if (any(set)) sets.push_back(std::move(set));
  };
  for (const Component& component : components) {
    Set set = component.ops;
    if (any(taken)) {
      const Set down = both(reach(problem, taken, true), reach(problem, component.ops, false));
      const Set up = both(reach(problem, component.ops, true), reach(problem, taken, false));
      for (std::size_t v = 0; v < n; ++v) set[v] = set[v] || down[v] || up[v];
    }
    add(std::move(set));
  }
  add(Set(n, true));
  return sets;
}

/// The swinging order: inside each set alternately down from what is ordered and up to it.
std::vector<std::size_t> node_order(const Problem& problem, const std::vector<Set>& sets, Cycle ii) {
  const std::size_t n = problem.ops.size();
  const std::vector<Cycle> depth = depths_at(problem, ii), height = heights_at(problem, ii);
  const Cycle longest = *std::max_element(height.begin(), height.end());
  const auto mobility = [&](std::size_t v) { return longest - height[v] - depth[v]; };
  std::vector<std::size_t> order;
  Set ordered(n, false);
  const auto neighbours = [&](const Set& set, bool successors) {
    Set found(n, false);
    for (const Edge& e : problem.edges) {
      const std::size_t a = (successors ? e.from : e.to).index(), b = (successors ? e.to : e.from).index();
      if (ordered[a] && !ordered[b] && set[b]) found[b] = true;
    }
    return found;
  };
  for (const Set& set : sets) {
    while (true) {
      bool down = false;
      Set ready = neighbours(set, false);
      if (!any(ready)) {
        ready = neighbours(set, true);
        down = any(ready);
      }
      if (!any(ready)) {  // nothing of it is next to what is ordered: begin at the op that comes last
        std::size_t first = n;
        for (std::size_t v = 0; v < n; ++v)
          if (set[v] && !ordered[v] && (first == n || depth[v] > depth[first])) first = v;
        if (first == n) break;
        ready[first] = true;
      }
      while (any(ready)) {
        const std::vector<Cycle>& urgency = down ? height : depth;
        std::size_t next = n;
        for (std::size_t v = 0; v < n; ++v)
          if (ready[v] && (next == n || urgency[v] > urgency[next] || (urgency[v] == urgency[next] && mobility(v) < mobility(next))))
            next = v;
        ready[next] = false;
        ordered[next] = true;
        order.push_back(next);
        for (const Edge& e : problem.edges) {
          const std::size_t a = (down ? e.from : e.to).index(), b = (down ? e.to : e.from).index();
          if (a == next && set[b] && !ordered[b]) ready[b] = true;
        }
      }
    }
  }
  return order;
}

enum class Way { Swinging, Anywhere, TopDown };

/// Simply from the top down: room between neighbours is never too small, except over carried dependences.
std::vector<std::size_t> by_depth(const Problem& problem) {
  std::vector<std::size_t> order;
  for (const OpId op : program_order(problem)) order.push_back(op.index());
  return order;
}

std::optional<ModuloSchedule> at_ii(const Problem& problem, const std::vector<Set>& sets, Cycle ii, Way way) {
  ModuloTable table(problem, ii);
  const std::vector<Cycle> depth = depths_at(problem, ii);
  for (const std::size_t op : way == Way::TopDown ? by_depth(problem) : node_order(problem, sets, ii)) {
    const std::optional<Cycle> early = table.earliest(op), late = table.latest(op);
    std::optional<Cycle> at;
    if (early && late) {
      if (*early <= *late) at = table.free_start(op, *early, std::min(*late, *early + ii - 1));
    } else if (late) {
      at = table.free_start(op, *late, *late - ii + 1);
    } else {
      const Cycle from = early.value_or(depth[op]);
      at = table.free_start(op, from, from + ii - 1);
    }
    if (!at && way == Way::Anywhere) at = table.free_start(op, early.value_or(depth[op]), early.value_or(depth[op]) + ii - 1);
    if (!at) return std::nullopt;
    table.place(op, *at);
  }
  ModuloSchedule found{ii, table.starts(), 0};
  for (const Edge& e : problem.edges)
    if (found.starts[e.to.index()] + e.distance * ii < found.starts[e.from.index()] + e.latency) return std::nullopt;
  return found;
}

/// Registers times cycles that values wait, per iteration: what the order of the ops is meant to keep small.
std::int64_t register_lifetimes(const Problem& problem, const ModuloSchedule& found) {
  std::int64_t sum = 0;
  for (std::size_t x = 0; x < problem.values.size(); ++x) {
    const Value& value = problem.values[x];
    Cycle end = 0;
    for (const Edge& e : problem.edges)
      if (e.value == ValueId(x))
        end = std::max(end, found.starts[e.to.index()] + e.distance * found.ii + e.hold - found.starts[value.producer.index()]);
    if (value.registers > 0) sum += end * value.registers;
  }
  return sum;
}

}  // namespace

Result<BaselineOutcome> run_swing(const BaselineInput& input) {
  const Problem& problem = input.problem;
  const bool recurrences = input.setting("scc") != 0;
  std::vector<std::string> log;
  const auto least = modulo_min_ii(problem);
  if (!least) return Error::input("swing finds no schedule: a unit is too small or a dependence cycle closes within one iteration");
  const std::vector<int> group = groups_by_block(problem);
  const std::vector<Set> sets = partial_order(problem, recurrences);
  log.push_back(recurrences
                    ? fmt::format("{} of ops, recurrences first", count_of(sets.size(), "set"))
                    : std::string("no recurrences first; any free slot after the earliest start is taken when the swing finds none"));
  const Cycle last = std::max(*least, serial_length(problem));
  std::optional<ModuloSchedule> found;
  const auto search = [&](Way way) {
    for (Cycle ii = *least; ii <= last && !input.stop.stop_requested();) {
      auto next = at_ii(problem, sets, ii, way);
      if (!next) {
        ii = next_ii(ii, *least);
        continue;
      }
      found = std::move(next);
      const auto larger = ii_for_memory(problem, *found, group, log);
      if (!larger || *larger > last) break;
      ii = *larger;
    }
  };
  search(recurrences ? Way::Swinging : Way::Anywhere);
  if (!found) {
    log.push_back("at no II is there room for every op between its neighbours: ops are placed from the top down instead");
    search(Way::TopDown);
  }
  if (!found) return Error::input(fmt::format("swing finds no schedule up to II {}", last));
  const std::int64_t lifetimes = register_lifetimes(problem, *found);
  log.push_back(
      fmt::format("II {}, MinII {}; registers times cycles {}, {} alive on average", found->ii, *least, lifetimes, lifetimes / found->ii));
  return partitioned(input, *found, group,
                     {"swing",
                      "Swing modulo scheduling over dependences and units; it knows no warp groups, so ops that share "
                      "registers are put together "
                      "afterwards and starts follow the order.",
                      std::move(log)});
}

}  // namespace heddle::solver
