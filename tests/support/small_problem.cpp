// Builders for hand-made problems.
#include "tests/support/small_problem.h"

#include <algorithm>

#include "core/analysis/channels.h"

namespace heddle::test {

Problem empty_problem() {
  Problem p;
  p.limits.smem_bytes = 65536;
  p.limits.tmem_columns = 512;
  p.max_groups = 4;
  return p;
}

UnitId add_unit(Problem& problem, std::string name, std::int64_t capacity) {
  Unit unit;
  unit.name = std::move(name);
  unit.capacity = capacity;
  problem.units.push_back(std::move(unit));
  return UnitId(problem.units.size() - 1);
}

OpId add_op(Problem& problem, std::string name, Cycle latency, Cycle window, std::vector<UnitUse> uses) {
  Op op;
  op.name = std::move(name);
  op.latency = latency;
  op.window = window;
  op.uses = std::move(uses);
  problem.ops.push_back(std::move(op));
  return OpId(problem.ops.size() - 1);
}

Edge& add_edge(Problem& problem, OpId from, OpId to, Cycle latency, int distance) {
  Edge e;
  e.from = from;
  e.to = to;
  e.latency = latency;
  e.distance = distance;
  return problem.edges.emplace_back(e);
}

ValueId add_registers(Problem& problem, OpId producer, int registers) {
  Value value;
  value.name = "r_" + problem.op(producer).name;
  value.producer = producer;
  value.registers = registers;
  problem.values.push_back(std::move(value));
  return ValueId(problem.values.size() - 1);
}

ChannelId add_channel(Problem& problem, OpId producer, std::int64_t bytes, std::vector<Reader> readers) {
  Value value;
  value.name = problem.op(producer).name + "_tile";
  value.space = Space::Smem;
  value.producer = producer;
  value.bytes = bytes;
  problem.values.push_back(value);
  Channel channel;
  channel.name = value.name;
  channel.size = bytes;
  channel.values = {ValueId(problem.values.size() - 1)};
  channel.writer = producer;
  channel.readers = std::move(readers);
  problem.channels.push_back(std::move(channel));
  return ChannelId(problem.channels.size() - 1);
}

Schedule place(const Problem& problem, Cycle ii, std::vector<std::pair<Cycle, int>> starts_and_groups) {
  Schedule s;
  s.ii = ii;
  std::size_t groups = 0;
  for (const auto& [start, group] : starts_and_groups) {
    s.ops.push_back({start, GroupId(static_cast<std::size_t>(group))});
    groups = std::max(groups, static_cast<std::size_t>(group) + 1);
  }
  s.groups.resize(groups);
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    int& warps = s.groups[s.ops[v].group.index()].warps;
    warps = std::max(warps, problem.ops[v].aligned ? (problem.ops[v].warps + 3) / 4 * 4 : problem.ops[v].warps);
  }
  s.depths = minimal_depths(problem, s);
  return s;
}

}  // namespace heddle::test
