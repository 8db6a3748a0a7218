// schedule_graph 0.1: a graph with its schedule, groups, buffers and barriers; also the older form in which a loop holds its
// graph directly.
#include <fmt/format.h>

#include <algorithm>

#include "core/dump/parts.h"

namespace heddle::dump {
namespace {

constexpr std::int64_t kMostInGraph = std::int64_t{1} << 40;

DumpBuffer read_buffer(const Cursor& at, std::int64_t index) {
  ObjectReader object(at);
  DumpBuffer buffer;
  buffer.id = object.integer("id", 0, kMostInGraph, index);
  buffer.kind = object.string("kind");
  for (const Cursor& extent : object.list("shape")) buffer.shape.push_back(extent.integer(0, kMostInGraph).value_or(0));
  buffer.element_bits = object.integer("element_bits", 0, 1 << 20, 0);
  buffer.count = object.integer("count", 0, 1 << 20, 1);
  buffer.size_bytes = object.integer("size_bytes", 0, kMostInGraph, 0);
  buffer.total_bytes = object.integer("total_bytes", 0, kMostInGraph, buffer.size_bytes * buffer.count);
  buffer.merge_group = maybe_integer(object, "merge_group_id", 0, kMostInGraph).value_or(-1);
  buffer.paired = maybe_integer(object, "paired_buffer_id", 0, kMostInGraph).value_or(-1);
  buffer.live_start = object.integer("live_start", -kMostInGraph, kMostInGraph, 0);
  buffer.live_end = object.integer("live_end", -kMostInGraph, kMostInGraph, 0);
  const auto op = object.find("def_op");
  buffer.synthesized = !op || op->json().is_null();
  return buffer;
}

void read_barrier(const Cursor& at, DumpLoop& loop) {
  ObjectReader object(at);
  DumpBarrier barrier;
  const auto end = [&](const char* key) -> std::optional<std::size_t> {
    const auto id_at = object.require(key);
    const auto id = id_at ? id_at->integer(0, kMostInGraph) : std::nullopt;
    return id ? node_at(loop, *id_at, *id) : std::nullopt;
  };
  const auto producer = end("producer_node"), consumer = end("consumer_node");
  barrier.producer_group = object.integer("producer_wg", -2, 1 << 20, kUnassigned);
  barrier.consumer_group = object.integer("consumer_wg", -2, 1 << 20, kUnassigned);
  barrier.kind = object.string("kind");
  barrier.depth = object.integer("depth", 0, 1 << 20, 1);
  barrier.buffer = maybe_integer(object, "paired_buffer_id", 0, kMostInGraph).value_or(-1);
  barrier.expect_bytes = object.integer("expect_bytes", 0, kMostInGraph, 0);
  barrier.distance = static_cast<int>(object.integer("distance", 0, 1 << 20, 0));
  if (!producer || !consumer) return;
  barrier.producer = *producer;
  barrier.consumer = *consumer;
  loop.barriers.push_back(std::move(barrier));
}

void read_schedule_loop(ObjectReader& object, const ReadOps& ops, DumpLoop& loop, ReadLog& log) {
  loop.stated_ii = object.integer("II", 1, kMostCycles);
  loop.max_stage = maybe_integer(object, "max_stage", 0, kMostCycles);
  loop.trips = maybe_integer(object, "trip_count", 0, kMostCycles).value_or(loop.trips);
  loop.trips_estimated = object.boolean("trip_count_estimated", loop.trips_estimated);
  if (const auto cost = object.find("partition_cost"); cost && !cost->json().is_null()) {
    if (const std::int64_t* whole = cost->json().integer())
      loop.partition_cost = static_cast<double>(*whole);
    else if (const double* number = cost->json().number())
      loop.partition_cost = *number;
    else
      cost->fault("expected a number, found " + describe(cost->json()));
  }
  std::int64_t index = 0;
  for (const Cursor& item : object.list("buffers")) loop.buffers.push_back(read_buffer(item, index++));
  std::vector<int> node_ops;
  if (const auto at = object.require("graph")) {
    ObjectReader graph(*at);
    read_graph(graph, ops, loop, node_ops);
    for (const Cursor& item : graph.list("cross_wg_barriers")) read_barrier(item, loop);
  }
  const bool some = std::any_of(loop.nodes.begin(), loop.nodes.end(), [](const DumpNode& n) { return n.cycle.has_value(); });
  for (std::size_t i = 0; some && i < loop.nodes.size(); ++i)
    if (!loop.nodes[i].cycle)
      log.fault(fmt::format("{}/graph/nodes/{}/schedule", object.cursor().pointer(), i),
                fmt::format("node {} has no schedule, but others have", loop.nodes[i].id));
  finish_loop(loop, ops, node_ops, log);
}

}  // namespace

void read_schedule_document(ObjectReader& root, Dump& dump) {
  dump.format = Format::ScheduleGraph;
  const ReadOps ops = read_ops(root);
  for (const Cursor& item : root.required_list("loops")) {
    DumpLoop& loop = dump.loops.emplace_back();
    loop.id = static_cast<std::int64_t>(dump.loops.size()) - 1;
    ObjectReader object(item);
    read_loop_facts(object, loop);
    for (const Cursor& group : object.list("warp_groups")) {
      ObjectReader members(group);
      loop.groups.push_back({members.integer("id", -2, 1 << 20), static_cast<int>(members.integer("num_warps", 1, 64, 1))});
    }
    if (const auto inner = object.find("schedule_loop")) {
      loop.pointer = inner->pointer();
      ObjectReader schedule(*inner);
      read_schedule_loop(schedule, ops, loop, item.log());
    } else {
      loop.pointer = item.pointer();
      read_schedule_loop(object, ops, loop, item.log());
    }
  }
}

}  // namespace heddle::dump
