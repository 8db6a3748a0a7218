#include "solver/paper/graph.h"

#include <algorithm>

namespace heddle::solver::paper {
namespace {

std::size_t memory_of(Space space) { return space == Space::Smem ? 0 : 1; }

Cycle busy_cycles(const Op& op) {
  Cycle end = 0;
  for (const UnitUse& use : op.uses) end = std::max(end, use.offset + use.duration);
  return end;
}

bool on_copy_unit(const Problem& problem, const Op& op) {
  return std::any_of(op.uses.begin(), op.uses.end(),
                     [&](const UnitUse& use) { return problem.unit(use.unit).role == UnitRole::Copy && use.duration > 0; });
}

bool varies(const Problem& problem, const Op& op, VariableRule rule) {
  switch (rule) {
    case VariableRule::Machine: return op.variable_latency;
    case VariableRule::Copies: return op.variable_latency || (op.asynchronous && on_copy_unit(problem, op));
    case VariableRule::None: return false;
  }
  return false;
}

void add_read(PaperNode& node, Read read) {
  if (std::find(node.reads.begin(), node.reads.end(), read) == node.reads.end()) node.reads.push_back(read);
}

/// Section 5.3: streaming ops run ahead on their own warp, so that no op waits for them.
void apply_streaming(PaperGraph& graph, Streaming rule) {
  if (rule == Streaming::Off) return;
  std::vector<bool> has_input(graph.nodes.size(), false);
  for (const Arc& arc : graph.arcs) has_input[arc.to] = true;
  const auto streams = [&](std::size_t v) { return graph.nodes[v].variable_latency && !has_input[v]; };
  for (Arc& arc : graph.arcs)
    if (streams(arc.from)) arc.delay = 0;
  if (rule != Streaming::Whole) return;
  for (std::size_t v = 0; v < graph.nodes.size(); ++v)
    if (streams(v)) {
      graph.nodes[v].cycles = 0;
      graph.nodes[v].table.clear();
    }
}

}  // namespace

PaperGraph make_graph(const Problem& problem, const Options& options) {
  PaperGraph graph;
  for (const Unit& unit : problem.units) graph.unit_capacity.push_back(unit.capacity);
  for (const Op& op : problem.ops) {
    PaperNode node;
    node.name = op.name;
    node.cycles = std::max(options.table == Table::Latency ? op.latency : Cycle{0}, busy_cycles(op));
    if (node.cycles == 0) node.cycles = op.latency;
    for (const UnitUse& use : op.uses)
      if (use.duration > 0 && use.amount > 0) node.table.push_back({use.unit.index(), use.offset, use.duration, use.amount});
    node.warps = std::max(1, op.warps);
    node.asynchronous = op.asynchronous;
    node.variable_latency = varies(problem, op, options.variable);
    graph.has_variable_latency = graph.has_variable_latency || node.variable_latency;
    graph.nodes.push_back(std::move(node));
  }
  for (const Value& value : problem.values) {
    PaperNode& node = graph.nodes[value.producer.index()];
    const std::int64_t registers = value.space == Space::Register ? value.registers : 0;
    node.registers += options.charge == Charge::Whole ? registers * node.warps : registers;
  }
  for (const Edge& edge : problem.edges) {
    PaperNode& from = graph.nodes[edge.from.index()];
    Arc arc;
    arc.from = edge.from.index();
    arc.to = edge.to.index();
    arc.delay = options.table == Table::Latency ? edge.latency : std::min(edge.latency, from.cycles);
    arc.distance = edge.distance;
    arc.blocking = (options.blocking == Blocking::Async && from.asynchronous) || (options.blocking == Blocking::Waits && edge.waits);
    arc.registers = edge.value.valid() && problem.value(edge.value).space == Space::Register;
    if (arc.registers) from.spill = std::max(from.spill, options.spill_cost >= 0 ? options.spill_cost : edge.handoff);
    add_read(from, {arc.to, arc.distance});
    graph.arcs.push_back(arc);
  }
  for (const Channel& channel : problem.channels) {
    if (channel.only_if_crossing) continue;  // a spill: the paper charges latency only
    PaperNode& writer = graph.nodes[channel.writer.index()];
    writer.footprint[memory_of(channel.space)] += channel.size;
    for (const Reader& reader : channel.readers) add_read(writer, {reader.op.index(), reader.distance});
  }
  const Limits& limits = problem.limits;
  graph.memory_capacity = {limits.smem_bytes - problem.resident_smem, limits.tmem_columns - problem.resident_columns};
  graph.register_limit =
      options.registers > 0 ? options.registers : limits.registers_per_thread - limits.register_overhead - problem.resident_registers;
  const std::int64_t own = options.pool == Pool::Warps ? limits.warps_per_cta : problem.max_groups;
  graph.pool = static_cast<int>(std::clamp<std::int64_t>(options.groups > 0 ? options.groups : own, 1, 64));
  apply_streaming(graph, options.streaming);
  return graph;
}

std::vector<Cycle> cost_list(const PaperGraph& graph, const Options& options) {
  std::vector<Cycle> list;
  for (const PaperNode& node : graph.nodes) {
    list.push_back(node.cycles);
    for (const TableUse& use : node.table) {
      if (use.offset > 0) list.push_back(use.offset);
      if (use.duration != node.cycles) list.push_back(use.duration);
    }
  }
  if (options.list != CostList::Ops)
    for (const Arc& arc : graph.arcs) list.push_back(arc.delay);
  if (options.list == CostList::All)
    for (const PaperNode& node : graph.nodes) list.push_back(node.spill);
  return list;
}

Cycle serial_cycles(const PaperGraph& graph) {
  std::vector<Cycle> lengths;
  for (const PaperNode& node : graph.nodes) lengths.push_back(std::max<Cycle>(1, node.cycles));
  for (const Arc& arc : graph.arcs) lengths[arc.from] = std::max(lengths[arc.from], arc.delay + graph.nodes[arc.from].spill);
  Cycle total = 0;
  for (const Cycle length : lengths) total += length;
  return std::max<Cycle>(1, total);
}

int merge_subtiles(PaperGraph& graph, std::vector<std::size_t>* dropped) {
  const auto find = [&](const std::string& name) {
    for (std::size_t v = 0; v < graph.nodes.size(); ++v)
      if (graph.nodes[v].name == name) return static_cast<int>(v);
    return -1;
  };
  std::vector<bool> drop(graph.nodes.size(), false), keep(graph.nodes.size(), false);
  int count = 0;
  for (std::size_t v = 0; v < graph.nodes.size(); ++v) {
    std::string twin = graph.nodes[v].name;
    if (twin.empty() || twin.back() != '1') continue;
    twin.back() = '2';
    if (find(twin) >= 0) continue;  // chunks, not sub-tiles
    twin.back() = '0';
    const int first = find(twin);
    if (first < 0 || graph.nodes[static_cast<std::size_t>(first)].cycles != graph.nodes[v].cycles) continue;
    drop[v] = keep[static_cast<std::size_t>(first)] = true;
    ++count;
  }
  for (std::size_t v = 0; v < graph.nodes.size(); ++v)
    if (!drop[v] && !keep[v] && !graph.nodes[v].variable_latency) return 0;  // something belongs to no sub-tile
  std::vector<std::size_t> renumbered(graph.nodes.size(), 0);
  std::vector<PaperNode> nodes;
  for (std::size_t v = 0; v < graph.nodes.size(); ++v) {
    if (drop[v]) {
      if (dropped) dropped->push_back(v);
      continue;
    }
    renumbered[v] = nodes.size();
    PaperNode node = graph.nodes[v];
    if (keep[v]) {
      node.cycles *= 2;
      node.spill *= 2;
      node.registers *= 2;
      for (std::int64_t& size : node.footprint) size *= 2;
      for (TableUse& use : node.table) {
        use.offset *= 2;
        use.duration *= 2;
      }
    }
    nodes.push_back(std::move(node));
  }
  for (PaperNode& node : nodes) {
    std::erase_if(node.reads, [&](const Read& read) { return drop[read.op]; });
    for (Read& read : node.reads) read.op = renumbered[read.op];
  }
  std::erase_if(graph.arcs, [&](const Arc& arc) { return drop[arc.from] || drop[arc.to]; });
  for (Arc& arc : graph.arcs) {
    if (keep[arc.from]) arc.delay *= 2;
    arc.from = renumbered[arc.from];
    arc.to = renumbered[arc.to];
  }
  graph.nodes = std::move(nodes);
  return count;
}

}  // namespace heddle::solver::paper
