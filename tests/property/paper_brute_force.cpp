// Straight from the figures: lay out all copies, then look.
#include "tests/property/paper_brute_force.h"

#include <algorithm>
#include <random>

namespace heddle::test {

using namespace solver::paper;

namespace {

/// Calls `what` for every vector of `size` numbers with 0 <= x[i] < limits[i], until it answers true.
bool any_vector(const std::vector<Cycle>& limits, const std::function<bool(const std::vector<Cycle>&)>& what) {
  for (const Cycle limit : limits)
    if (limit <= 0) return false;
  std::vector<Cycle> x(limits.size(), 0);
  for (;;) {
    if (what(x)) return true;
    std::size_t i = 0;
    while (i < x.size() && ++x[i] == limits[i]) x[i++] = 0;
    if (i == x.size()) return false;
  }
}

struct Layout {
  const PaperGraph& graph;
  const Options& options;
  Cycle ii, length, copies, end;
  const std::vector<Cycle>& starts;
  const std::vector<int>& groups;

  Cycle at(std::size_t v, Cycle i) const { return starts[v] + i * ii; }

  bool figure4() const {
    for (std::size_t v = 0; v < graph.nodes.size(); ++v)
      for (Cycle i = 0; i < copies; ++i)
        if (at(v, i) >= end || at(v, i) + graph.nodes[v].cycles > end) return false;
    for (const Arc& arc : graph.arcs)
      for (Cycle i = 0; i + arc.distance < copies; ++i)
        if (at(arc.to, i + arc.distance) < at(arc.from, i) + arc.delay) return false;
    for (std::size_t unit = 0; unit < graph.unit_capacity.size(); ++unit)
      for (Cycle t = 0; t < end; ++t) {
        std::int64_t used = 0;
        for (std::size_t v = 0; v < graph.nodes.size(); ++v)
          for (const TableUse& use : graph.nodes[v].table)
            for (Cycle i = 0; use.unit == unit && i < copies; ++i)
              if (t >= at(v, i) + use.offset && t < at(v, i) + use.offset + use.duration) used += use.amount;
        if (used > graph.unit_capacity[unit]) return false;
      }
    return true;
  }

  /// live[t] for t in [0, T], by the recurrence of Figure 5.
  std::vector<bool> live(std::size_t v, Cycle i) const {
    std::vector<bool> alive(static_cast<std::size_t>(end + 1), false);
    for (const Read& read : graph.nodes[v].reads)
      if (options.init == Init::LastCopy ? i == copies - 1 && read.distance > 0 : i + read.distance >= copies)
        alive[static_cast<std::size_t>(end)] = true;
    for (Cycle t = end; t > 0; --t) {
      bool use = false;
      for (const Read& read : graph.nodes[v].reads) use = use || (i + read.distance < copies && at(read.op, i + read.distance) == t);
      const bool issued = at(v, i) == t;
      if (issued && options.same_cycle_guard) use = false;
      alive[static_cast<std::size_t>(t - 1)] = alive[static_cast<std::size_t>(t)] ? !issued : use;
    }
    return alive;
  }

  bool limits() const {
    std::vector<std::vector<std::int64_t>> memory(2, std::vector<std::int64_t>(static_cast<std::size_t>(end), 0));
    std::vector<std::vector<std::int64_t>> registers(static_cast<std::size_t>(graph.pool), memory[0]);
    for (std::size_t v = 0; v < graph.nodes.size(); ++v)
      for (Cycle i = 0; i < copies; ++i) {
        const std::vector<bool> alive = live(v, i);
        for (std::size_t t = 0; t < static_cast<std::size_t>(end); ++t) {
          if (!alive[t]) continue;
          for (std::size_t m = 0; m < 2; ++m)
            if ((memory[m][t] += graph.nodes[v].footprint[m]) > graph.memory_capacity[m]) return false;
          if ((registers[static_cast<std::size_t>(groups[v])][t] += graph.nodes[v].registers) > graph.register_limit) return false;
        }
      }
    return true;
  }

  bool figure6() const {
    for (std::size_t v = 0; v < graph.nodes.size(); ++v)
      if (graph.has_variable_latency && graph.nodes[v].variable_latency != (groups[v] == 0)) return false;
    for (const Arc& arc : graph.arcs) {
      if (groups[arc.from] == groups[arc.to]) continue;
      if (options.cross_warp == CrossWarp::Never || (options.cross_warp == CrossWarp::NoRegisters && arc.registers)) return false;
      for (Cycle i = 0; i + arc.distance < copies; ++i)
        for (Cycle s = 0; s < graph.nodes[arc.from].spill; ++s)
          if (at(arc.to, i + arc.distance) == at(arc.from, i) + arc.delay + s) return false;
    }
    for (const Arc& arc : graph.arcs) {
      const bool spilled = graph.nodes[arc.from].spill > 0 && groups[arc.from] != groups[arc.to];
      if (!arc.blocking && !(options.spill_concurrency && spilled)) continue;
      for (std::size_t o = 0; o < graph.nodes.size(); ++o) {
        if (o == arc.to || groups[o] != groups[arc.to]) continue;
        Cycle cycles = graph.nodes[o].cycles;
        if (options.concurrency == Concurrency::Issue && graph.nodes[o].asynchronous) cycles = std::min<Cycle>(cycles, 1);
        for (Cycle i = 0; i < copies; ++i)
          for (Cycle other = 0; other < copies; ++other) {
            const Cycle age = at(arc.to, i) - at(o, other);
            if (age >= 0 && age < cycles) return false;
          }
      }
    }
    return true;
  }
};

}  // namespace

bool paper_formulas_hold(const PaperGraph& graph, const Options& options, Cycle ii, Cycle length, const std::vector<Cycle>& starts,
                         const std::vector<int>& groups) {
  const Cycle copies = (length + ii - 1) / ii;
  const Layout layout{graph, options, ii, length, copies, (copies - 1) * ii + length, starts, groups};
  return layout.figure4() && layout.limits() && layout.figure6();
}

bool paper_schedule_exists(const PaperGraph& graph, const Options& options, Cycle ii, Cycle length) {
  std::vector<Cycle> windows;
  for (const PaperNode& node : graph.nodes) windows.push_back(std::min(length - node.cycles + 1, length));
  const std::vector<Cycle> pool(graph.nodes.size(), graph.pool);
  const Cycle copies = (length + ii - 1) / ii;
  return any_vector(windows, [&](const std::vector<Cycle>& starts) {
    const std::vector<int> nowhere(graph.nodes.size(), 0);
    const Layout base{graph, options, ii, length, copies, (copies - 1) * ii + length, starts, nowhere};
    if (!base.figure4()) return false;
    return any_vector(pool, [&](const std::vector<Cycle>& chosen) {
      return paper_formulas_hold(graph, options, ii, length, starts, std::vector<int>(chosen.begin(), chosen.end()));
    });
  });
}

Cycle shortest_modulo_length(const PaperGraph& graph, Cycle ii, Cycle limit) {
  for (Cycle length = 1; length <= limit; ++length) {
    std::vector<Cycle> windows;
    for (const PaperNode& node : graph.nodes) windows.push_back(std::min(length - node.cycles + 1, length));
    const bool found = any_vector(windows, [&](const std::vector<Cycle>& s) {
      for (const Arc& arc : graph.arcs)
        if (s[arc.to] + arc.distance * ii < s[arc.from] + arc.delay) return false;
      for (std::size_t unit = 0; unit < graph.unit_capacity.size(); ++unit)
        for (Cycle slot = 0; slot < ii; ++slot) {
          std::int64_t used = 0;
          for (std::size_t v = 0; v < graph.nodes.size(); ++v)
            for (const TableUse& use : graph.nodes[v].table)
              for (Cycle c = use.offset; use.unit == unit && c < use.offset + use.duration; ++c)
                if ((s[v] + c) % ii == slot) used += use.amount;
          if (used > graph.unit_capacity[unit]) return false;
        }
      return true;
    });
    if (found) return length;
  }
  return 0;
}

PaperGraph random_paper_graph(std::uint64_t seed, int most_ops) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int low, int high) { return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1)); };
  PaperGraph graph;
  graph.unit_capacity = {1, 2};
  graph.memory_capacity = {pick(1, 4), pick(1, 4)};
  graph.register_limit = pick(1, 4);
  graph.pool = pick(1, 3);
  const int ops = pick(2, most_ops);
  for (int v = 0; v < ops; ++v) {
    PaperNode node;
    node.name = std::string(1, static_cast<char>('a' + v));
    node.cycles = pick(0, 2);
    for (std::size_t unit = 0; unit < 2 && node.cycles > 0; ++unit)
      if (pick(0, 1) == 1) {
        const Cycle offset = pick(0, 3) == 0 ? node.cycles - 1 : 0;
        node.table.push_back({unit, offset, node.cycles - offset, pick(1, static_cast<int>(unit) + 1)});
      }
    node.registers = pick(0, 2);
    node.footprint = {pick(0, 1), pick(0, 2) / 2};
    node.spill = node.registers > 0 ? pick(0, 2) : 0;
    node.asynchronous = pick(0, 2) == 0;
    node.variable_latency = graph.pool > 1 && pick(0, 4) == 0;
    graph.has_variable_latency = graph.has_variable_latency || node.variable_latency;
    graph.nodes.push_back(node);
  }
  for (int k = pick(1, ops + 1); k > 0; --k) {
    Arc arc;
    arc.from = static_cast<std::size_t>(pick(0, ops - 1));
    arc.to = static_cast<std::size_t>(pick(0, ops - 1));
    arc.distance = arc.from < arc.to ? (pick(0, 3) == 0 ? 1 : 0) : pick(1, 2);
    arc.delay = pick(0, static_cast<int>(graph.nodes[arc.from].cycles));
    arc.blocking = graph.nodes[arc.from].asynchronous && pick(0, 1) == 0;
    arc.registers = graph.nodes[arc.from].registers > 0;
    graph.arcs.push_back(arc);
    auto& reads = graph.nodes[arc.from].reads;
    const Read read{arc.to, arc.distance};
    if (std::find(reads.begin(), reads.end(), read) == reads.end()) reads.push_back(read);
  }
  return graph;
}

}  // namespace heddle::test
