// Each builder step adds an op or a value together with the edges and channels that resolve() would derive.
#include "tests/support/problem_builder.h"

#include "core/base/assert.h"

namespace heddle::test {

ProblemBuilder::ProblemBuilder(std::vector<std::string> units) {
  problem.kernel = "test";
  problem.machine = "test";
  for (const std::string& name : units) problem.units.push_back({name, UnitRole::Other, 1, "", ""});
  problem.limits.smem_bytes = 1 << 20;
  problem.limits.registers_per_thread = 255;
  problem.limits.producer_registers = 24;
  problem.max_groups = 2;
}

OpId ProblemBuilder::op(const std::string& name, const std::string& unit, Cycle cycles, Cycle window) {
  Op op;
  op.name = name;
  op.kind = "opaque";
  op.latency = cycles;
  op.window = window;
  for (std::size_t u = 0; u < problem.units.size(); ++u)
    if (problem.units[u].name == unit) op.uses.push_back({UnitId(u), 0, cycles, 1});
  problem.ops.push_back(op);
  return OpId(problem.ops.size() - 1);
}

OpId ProblemBuilder::async_op(const std::string& name, const std::string& unit, Cycle occupancy, Cycle latency, Cycle window) {
  const OpId id = op(name, unit, occupancy, window);
  problem.ops[id.index()].asynchronous = true;
  problem.ops[id.index()].latency = latency;
  return id;
}

OpId ProblemBuilder::load(const std::string& name, const std::string& unit, Cycle occupancy, Cycle latency) {
  const OpId id = async_op(name, unit, occupancy, latency);
  problem.ops[id.index()].variable_latency = true;
  return id;
}

void ProblemBuilder::edge(OpId from, OpId to, int distance, Cycle handoff) {
  Edge e;
  e.from = from;
  e.to = to;
  e.latency = problem.op(from).latency;
  e.distance = distance;
  e.handoff = handoff;
  e.waits = problem.op(from).asynchronous;
  problem.edges.push_back(e);
}

ValueId ProblemBuilder::registers(OpId producer, int per_thread, std::vector<std::pair<OpId, int>> readers, Cycle handoff) {
  Value value;
  value.name = problem.op(producer).name;
  value.producer = producer;
  value.registers = per_thread;
  value.bytes = per_thread * 128;
  problem.values.push_back(value);
  const ValueId id(problem.values.size() - 1);
  Channel channel;
  channel.name = value.name;
  channel.size = value.bytes;
  channel.values = {id};
  channel.writer = producer;
  channel.only_if_crossing = true;
  for (const auto& [reader, distance] : readers) {
    edge(producer, reader, distance, handoff);
    problem.edges.back().value = id;
    if (problem.op(reader).asynchronous) problem.edges.back().hold = problem.op(reader).latency;
    channel.readers.push_back({reader, distance, problem.op(reader).window, handoff});
  }
  problem.channels.push_back(channel);
  return id;
}

ChannelId ProblemBuilder::ring(OpId producer, std::int64_t bytes, std::vector<std::pair<OpId, int>> readers, Cycle signal) {
  Value value;
  value.name = problem.op(producer).name;
  value.space = Space::Smem;
  value.producer = producer;
  value.bytes = bytes;
  problem.values.push_back(value);
  const ValueId id(problem.values.size() - 1);
  Channel channel;
  channel.name = value.name;
  channel.size = bytes;
  channel.values = {id};
  channel.writer = producer;
  for (const auto& [reader, distance] : readers) {
    edge(producer, reader, distance);
    problem.edges.back().value = id;
    const Op& op = problem.op(reader);
    channel.readers.push_back({reader, distance, op.asynchronous ? op.latency : op.window, signal});
  }
  problem.channels.push_back(channel);
  return ChannelId(problem.channels.size() - 1);
}

Problem toy_problem() {
  ProblemBuilder b;
  const OpId s = b.op("S", "TC", 1), p = b.op("P", "EXP", 1), o = b.op("O", "TC", 1);
  b.edge(s, p);
  b.edge(p, o);
  b.edge(o, o, 1);
  return b.problem;
}

}  // namespace heddle::test
