#include "core/dump/parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/scanner.h"

namespace heddle::dump {
namespace {

constexpr std::int64_t kMostIds = std::int64_t{1} << 40;

OperandRef read_operand(const Cursor& at, const ReadOps& ops) {
  OperandRef ref;
  if (!at.json().is_object()) return ref;
  ObjectReader object(at);
  if (const auto op = object.find("op")) {
    const auto id = op->string();
    const auto found = id ? ops.index.find(*id) : ops.index.end();
    if (found != ops.index.end()) {
      ref.kind = OperandRef::Kind::Op;
      ref.op = found->second;
      ref.result = object.integer("result", 0, 1 << 20, 0);
    } else if (id) {
      op->fault(fmt::format("no op is called \"{}\"", *id));
    }
  } else if (const auto arg = object.find("arg")) {
    ref.kind = OperandRef::Kind::Arg;
    ref.arg = arg->string().value_or("");
  } else if (const auto carried = object.find("iter_arg"); carried && carried->json().is_object()) {
    ObjectReader item(*carried);
    ref.kind = OperandRef::Kind::IterArg;
    ref.loop = item.integer("loop", -1, kMostIds, -1);
    ref.index = item.integer("idx", 0, 1 << 20, 0);
  } else if (const auto block = object.find("block_arg"); block && block->json().is_object()) {
    ObjectReader item(*block);
    ref.kind = OperandRef::Kind::IterArg;
    ref.loop = item.integer("loop", -1, kMostIds, -1);
    ref.index = item.integer("idx", 0, 1 << 20, 0);
  }
  return ref;
}

void read_table(const Cursor& at, DumpNode& node) {
  if (!at.json().is_object()) return at.fault("expected an object of unit: [amount per cycle], found " + describe(at.json()));
  for (const JsonMember& member : *at.json().members()) {
    const Cursor column(member.value, pointer_to(at.pointer(), member.key), at.log());
    // Runs of equal demand become one use each.
    Cycle cycle = 0;
    for (const Cursor& item : column.items()) {
      const std::int64_t amount = item.integer(0, 1 << 20).value_or(0);
      const bool goes_on = !node.table.empty() && node.table.back().unit == member.key && node.table.back().amount == amount &&
                           node.table.back().offset + node.table.back().duration == cycle;
      if (goes_on)
        ++node.table.back().duration;
      else if (amount > 0)
        node.table.push_back({member.key, cycle, 1, amount});
      ++cycle;
    }
  }
}

DumpNode read_node(const Cursor& at, std::int64_t position) {
  ObjectReader object(at);
  DumpNode node;
  node.position = position;
  node.id = object.integer("id", 0, kMostIds);
  if (const auto kind = object.find("op_kind")) node.kind = kind->string().value_or("");
  if (const auto unit = object.find("pipeline")) node.unit = unit->string().value_or("");
  if (node.unit == "NONE") node.unit.clear();
  node.latency = object.integer("latency", 0, kMostCycles, 0);
  node.occupancy = object.integer("occupancy", 0, kMostCycles, 0);
  node.self_latency = object.integer("self_latency", 0, kMostCycles, node.occupancy);
  node.min_warps = static_cast<int>(object.integer("min_warps", 1, 32, 1));
  node.frequency = object.integer("frequency_multiplier", 1, kMostCycles, 1);
  node.super = object.boolean("is_super_node", false);
  node.inner_ii = object.integer("inner_ii", 0, kMostCycles, 0);
  node.prologue_latency = object.integer("prologue_latency", 0, kMostCycles, 0);
  if (maybe_integer(object, "child_pipeline_id", 0, kMostIds)) node.super = true;
  if (const auto table = object.find("rrt")) read_table(*table, node);
  // The older name of the field.
  node.group =
      maybe_integer(object, "warp_group", -2, 1 << 20).value_or(maybe_integer(object, "partition", -2, 1 << 20).value_or(kUnassigned));
  if (const auto placed = object.find("schedule"); placed && !placed->json().is_null()) {
    ObjectReader schedule(*placed);
    node.cycle = schedule.integer("cycle", 0, kMostCycles);
    node.stage = maybe_integer(schedule, "stage", 0, kMostCycles);
    node.cluster = maybe_integer(schedule, "cluster", 0, kMostCycles);
  }
  node.produces = maybe_integer(object, "produces_buffer", 0, kMostIds).value_or(-1);
  for (const Cursor& item : object.list("consumes_buffers")) node.consumes.push_back(item.integer(0, kMostIds).value_or(-1));
  return node;
}

}  // namespace

std::optional<std::int64_t> maybe_integer(ObjectReader& object, const char* key, std::int64_t low, std::int64_t high) {
  const auto at = object.find(key);
  if (!at || at->json().is_null()) return std::nullopt;
  return at->integer(low, high);
}

ReadOps read_ops(ObjectReader& root) {
  ReadOps ops;
  const auto at = root.find("ops");
  if (!at) return ops;
  const Json::Object* members = at->json().members();
  if (!members) {
    at->fault("expected an object of ops, found " + describe(at->json()));
    return ops;
  }
  // Operands may speak of later ops.
  std::size_t position = 0;
  for (const JsonMember& member : *members) ops.index[member.key] = position++;
  for (const JsonMember& member : *members) {
    ObjectReader object(Cursor(member.value, pointer_to(at->pointer(), member.key), at->log()));
    OpInfo& op = ops.table.ops.emplace_back();
    if (const auto kind = object.find("kind")) op.kind = kind->string().value_or("");
    if (const auto scope = object.find("scope"))
      if (const std::string text = scope->string().value_or(""); text.starts_with("loop:"))
        op.loop = number_in_front(std::string_view(text).substr(5), op.loop);
    for (const Cursor& operand : object.list("operands")) op.operands.push_back(read_operand(operand, ops));
    for (const Cursor& type : object.list("result_types")) op.results.push_back(parse_tile_type(type.string().value_or("")));
  }
  return ops;
}

std::optional<std::size_t> node_at(const DumpLoop& loop, const Cursor& at, std::int64_t id) {
  // Ids are indices in every file of the compiler's own.
  if (id >= 0 && static_cast<std::size_t>(id) < loop.nodes.size() && loop.nodes[static_cast<std::size_t>(id)].id == id)
    return static_cast<std::size_t>(id);
  if (const DumpNode* node = loop.find(id)) return static_cast<std::size_t>(node - loop.nodes.data());
  at.fault(fmt::format("no node has the id {}", id));
  return std::nullopt;
}

void read_graph(ObjectReader& graph, const ReadOps& ops, DumpLoop& loop, std::vector<int>& node_ops) {
  const std::vector<Cursor> items = graph.required_list("nodes");
  if (items.size() > kMostNodes)
    graph.cursor().fault(fmt::format("the loop has {} ops, at most {} are accepted", items.size(), kMostNodes));
  std::map<std::int64_t, std::size_t> seen;
  for (std::size_t i = 0; i < std::min(items.size(), kMostNodes); ++i) {
    loop.nodes.push_back(read_node(items[i], static_cast<std::int64_t>(i)));
    if (const auto [it, fresh] = seen.emplace(loop.nodes.back().id, i); !fresh)
      items[i].fault(fmt::format("node id {} is already that of node {} of this list", it->first, it->second));
    int op = -1;
    if (const Json* ref = items[i].json().find("op_ref"); ref && ref->string() && !ops.table.ops.empty()) {
      const auto found = ops.index.find(*ref->string());
      if (found == ops.index.end())
        items[i].log().fault(pointer_to(items[i].pointer(), "op_ref"), fmt::format("no op is called \"{}\"", *ref->string()));
      else
        op = static_cast<int>(found->second);
    }
    node_ops.push_back(op);
    if (loop.nodes.back().kind.empty() && op >= 0) loop.nodes.back().kind = ops.table.ops[static_cast<std::size_t>(op)].kind;
  }
  for (const Cursor& item : graph.list("edges")) {
    ObjectReader object(item);
    DumpEdge edge;
    edge.pointer = item.pointer();
    const auto end = [&](const char* key) -> std::optional<std::size_t> {
      const auto at = object.require(key);
      const auto id = at ? at->integer(0, kMostIds) : std::nullopt;
      return id ? node_at(loop, *at, *id) : std::nullopt;
    };
    const auto from = end("src"), to = end("dst");
    edge.distance = static_cast<int>(object.integer("distance", 0, 1 << 20, 0));
    edge.latency = object.integer("latency", 0, kMostCycles, 0);
    if (!from || !to) continue;
    edge.from = *from;
    edge.to = *to;
    // The same def-use twice says nothing new.
    const bool known = std::any_of(loop.edges.begin(), loop.edges.end(), [&](const DumpEdge& e) {
      return e.from == edge.from && e.to == edge.to && e.distance == edge.distance && e.latency == edge.latency;
    });
    if (!known) loop.edges.push_back(std::move(edge));
  }
}

void read_loop_facts(ObjectReader& object, DumpLoop& loop) {
  loop.id = maybe_integer(object, "loop_id", 0, kMostIds).value_or(loop.id);
  loop.outer = object.boolean("is_outer", loop.outer);
  loop.trips = maybe_integer(object, "trip_count", 0, kMostCycles).value_or(loop.trips);
  loop.trips_estimated = object.boolean("trip_count_estimated", loop.trips_estimated);
  loop.min_ii = maybe_integer(object, "min_ii", 0, kMostCycles);
  loop.res_mii = maybe_integer(object, "res_mii", 0, kMostCycles);
  loop.rec_mii = maybe_integer(object, "rec_mii", 0, kMostCycles);
}

void finish_loop(DumpLoop& loop, const ReadOps& ops, const std::vector<int>& node_ops, ReadLog& log) {
  // Remove what no edge of distance 0 leads to, again and again: what is left closes a cycle.
  std::vector<int> open(loop.nodes.size(), 0);
  std::vector<std::vector<std::size_t>> next(loop.nodes.size());
  for (const DumpEdge& e : loop.edges)
    if (e.distance == 0) {
      ++open[e.to];
      next[e.from].push_back(e.to);
    }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < open.size(); ++i)
    if (open[i] == 0) ready.push_back(i);
  std::size_t done = 0;
  while (done < ready.size())
    for (const std::size_t to : next[ready[done++]])
      if (--open[to] == 0) ready.push_back(to);
  if (done < open.size()) {
    for (const DumpEdge& e : loop.edges)
      if (e.distance == 0 && open[e.from] > 0 && open[e.to] > 0) {
        log.fault(e.pointer,
                  fmt::format("the dependence of node {} on node {} is part of a cycle without an iteration between", loop.nodes[e.to].id,
                              loop.nodes[e.from].id),
                  "an edge of such a cycle has distance 1 or more");
        break;
      }
  }
  describe(loop, ops.table, node_ops);
  for (std::size_t i = 0; i < node_ops.size(); ++i)
    if (loop.nodes[i].super && node_ops[i] >= 0)
      loop.nodes[i].inner_loop = static_cast<int>(loop_run_by(ops.table, static_cast<std::size_t>(node_ops[i])));
}

}  // namespace heddle::dump
