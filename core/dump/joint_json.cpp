// joint-solver-0.1 (cycles) and joint-solver-0.2 (warp groups at given cycles): problems and solutions.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturate.h"
#include "core/base/scanner.h"
#include "core/dump/dump_json.h"
#include "core/dump/parts.h"

namespace heddle::dump {
namespace {

constexpr std::int64_t kMostInJoint = std::int64_t{1} << 40;

std::optional<std::size_t> node_of(DumpLoop& loop, ObjectReader& object, const char* key) {
  const auto at = object.require(key);
  const auto id = at ? at->integer(-kMostInJoint, kMostInJoint) : std::nullopt;
  return id ? node_at(loop, *at, *id) : std::nullopt;
}

/// `streaming` gets the nodes whose results the problem wants to be there at once.
void read_nodes(ObjectReader& root, DumpLoop& loop, bool placed, std::vector<bool>& streaming) {
  const bool streams = root.boolean("streaming_vl", false);
  const std::vector<Cursor> items = root.required_list("nodes");
  if (items.size() > kMostNodes)
    root.cursor().fault(fmt::format("the problem has {} nodes, at most {} are accepted", items.size(), kMostNodes));
  if (items.empty()) root.cursor().fault("the problem has no nodes; there is nothing to schedule");
  std::map<std::int64_t, std::size_t> seen;
  for (std::size_t i = 0; i < std::min(items.size(), kMostNodes); ++i) {
    ObjectReader object(items[i]);
    DumpNode& node = loop.nodes.emplace_back();
    node.position = static_cast<std::int64_t>(i);
    node.id = object.integer("id", 0, kMostInJoint);
    if (const auto [it, fresh] = seen.emplace(node.id, i); !fresh)
      items[i].fault(fmt::format("node id {} is already that of node {} of this list", it->first, it->second));
    if (const auto unit = object.require("pipeline")) node.unit = unit->string().value_or("");
    if (node.unit == "NONE") node.unit.clear();
    node.self_latency = object.integer("duration", 0, kMostCycles);
    node.occupancy = node.self_latency;
    if (node.unit.empty()) node.self_latency = 0;
    node.latency = object.integer("latency", 0, kMostCycles, 0);
    node.frequency = object.integer("freq", 1, kMostCycles, 1);
    streaming.push_back(object.boolean("streaming", false) && streams);
    if (placed) node.cycle = object.integer("cycle", 0, kMostCycles);
  }
}

void read_edges(ObjectReader& root, DumpLoop& loop, const std::vector<bool>& streaming) {
  for (const Cursor& item : root.required_list("edges")) {
    ObjectReader object(item);
    DumpEdge edge;
    edge.pointer = item.pointer();
    const auto from = node_of(loop, object, "src"), to = node_of(loop, object, "dst");
    edge.latency = object.integer("latency", 0, kMostCycles);
    edge.distance = static_cast<int>(object.integer("distance", 0, 1 << 20));
    // A round trip is charged exactly where a register tile crosses; without one the channel's bytes say nothing about it.
    const std::int64_t round_trip = object.integer("rt", 0, kMostCycles, 0);
    edge.bytes = object.integer("chan_bytes", 0, kMostInJoint, 0);
    if (round_trip > 0) edge.carrier = Carrier::Register;
    edge.round_trip = round_trip;
    edge.cross_issue = object.integer("xissue", 0, kMostCycles, 0);
    edge.frequency = object.integer("freq", 1, kMostCycles, 1);
    edge.result = object.integer("src_result_idx", -kMostInJoint, kMostInJoint, 0);
    if (!from || !to) continue;
    if (streaming[*from]) edge.latency = 0;
    edge.from = *from;
    edge.to = *to;
    DumpNode& source = loop.nodes[edge.from];
    source.latency = std::max(source.latency, edge.latency);
    loop.edges.push_back(std::move(edge));
  }
}

void read_rings(ObjectReader& root, DumpLoop& loop, const char* writer, std::int64_t columns_per_byte) {
  for (const Cursor& item : root.list("buffers")) {
    ObjectReader object(item);
    Ring ring;
    const auto at = node_of(loop, object, writer);
    const std::string kind = object.string("kind");
    ring.space = kind == "tmem" ? TileType::Space::Tmem : TileType::Space::Smem;
    ring.bytes = object.integer("size_bytes", 0, kMostInJoint, 0);
    ring.columns = object.integer("tmem_cols", 0, kMostInJoint, ring.space == TileType::Space::Tmem ? ring.bytes / columns_per_byte : 0);
    for (const Cursor& reader : object.list("consumers")) {
      if (reader.json().is_object()) {
        ObjectReader members(reader);
        const Cycle latency = members.integer("latency", 0, kMostCycles, 0);
        const auto distance = static_cast<int>(members.integer("distance", 0, 1 << 20, 0));
        if (const auto node = node_of(loop, members, "node")) {
          ring.readers.push_back(*node);
          ring.ends.emplace_back(latency, distance);
        }
      } else if (const auto id = reader.integer(-kMostInJoint, kMostInJoint)) {
        if (const auto node = node_at(loop, reader, *id)) {
          ring.readers.push_back(*node);
          ring.ends.emplace_back(0, 0);
        }
      }
    }
    ring.id = object.integer("id", 0, kMostInJoint, at ? loop.nodes[*at].id : 0);
    ring.least = object.integer("min_count", 1, 1 << 20, 1);
    if (!at) continue;
    ring.writer = *at;
    loop.rings.push_back(std::move(ring));
  }
}

void read_clusters(ObjectReader& root, DumpLoop& loop) {
  std::vector<bool> taken(loop.nodes.size(), false);
  for (const Cursor& item : root.required_list("clusters")) {
    ObjectReader object(item);
    Cluster& cluster = loop.clusters.emplace_back();
    cluster.id = object.integer("id", 0, kMostInJoint);
    cluster.min_warps = static_cast<int>(object.integer("min_warps", 1, 8, 1));
    for (const Cursor& member : object.required_list("nodes")) {
      const auto id = member.integer(-kMostInJoint, kMostInJoint);
      const auto node = id ? node_at(loop, member, *id) : std::nullopt;
      if (!node) continue;
      if (taken[*node]) member.fault(fmt::format("node {} is in two clusters", *id));
      taken[*node] = true;
      cluster.nodes.push_back(*node);
      loop.nodes[*node].min_warps = cluster.min_warps;
    }
  }
  for (std::size_t i = 0; i < taken.size(); ++i) loop.nodes[i].scalar = !taken[i];
  for (const Cursor& item : root.list("warp_group_conflicts")) {
    std::vector<std::int64_t> pair;
    for (const Cursor& id : item.items()) pair.push_back(id.integer(0, kMostInJoint).value_or(0));
    if (pair.size() == 2)
      loop.conflicts.emplace_back(pair[0], pair[1]);
    else
      item.fault(fmt::format("expected two cluster ids, found {}", pair.size()));
  }
}

LoweringEvent read_event(const Cursor& at, DumpLoop& loop) {
  ObjectReader object(at);
  LoweringEvent event;
  event.id = object.integer("id", 0, kMostInJoint);
  const auto one_of = [&](const char* key, const char* first, const char* second) {
    const std::string word = object.string(key);
    if (word != first && word != second)
      at.fault(fmt::format("{} is \"{}\"", key, word), fmt::format("expected \"{}\" or \"{}\"", first, second));
    return word == first;
  };
  event.of_source = one_of("owner", "src", "dst");
  event.before = one_of("placement", "before", "after");
  event.distance = static_cast<int>(object.integer("distance", 0, 1 << 20, 0));
  event.anchor = node_of(loop, object, "anchor_node").value_or(0);
  event.duration = sat_mul(object.integer("issue_duration", 0, kMostCycles), object.integer("frequency", 1, kMostCycles));
  return event;
}

void read_lowering(ObjectReader& root, DumpLoop& loop) {
  for (const Cursor& item : root.list("lowering_templates")) {
    ObjectReader object(item);
    LoweringTemplate& read = loop.lowering.emplace_back();
    read.id = object.integer("id", 0, kMostInJoint);
    const std::string relation = object.string("relation");
    using Relation = LoweringTemplate::Relation;
    read.relation = relation == "same_wg" ? Relation::SameGroup : relation == "different_wg" ? Relation::DifferentGroup : Relation::Always;
    if (read.relation == Relation::Always && relation != "always")
      item.fault(fmt::format("relation is \"{}\"", relation), "expected \"always\", \"same_wg\" or \"different_wg\"");
    read.from = node_of(loop, object, "src_node").value_or(0);
    read.to = node_of(loop, object, "dst_node").value_or(0);
    for (const auto& [key, into] : {std::pair{"src_cluster", &read.from_cluster}, {"dst_cluster", &read.to_cluster}}) {
      *into = object.integer(key, 0, kMostInJoint);
      const bool known = std::any_of(loop.clusters.begin(), loop.clusters.end(),
                                     [&, &id = *into](const Cluster& c) { return c.id == id && !c.nodes.empty(); });
      if (!known) item.fault(fmt::format("{} {} is no cluster with nodes", key, *into));
    }
    for (const Cursor& event : object.list("events")) read.events.push_back(read_event(event, loop));
  }
}

void read_limits(ObjectReader& root, JointLimits& limits, bool moves) {
  limits.moves = moves;
  limits.smem = root.integer(moves ? "fixed_smem" : "committed_smem", 0, kMostInJoint, 0);
  limits.default_registers = root.integer("default_wg_footprint", 0, kMostInJoint, 0);
  limits.registers = root.integer("sm_regs", 0, kMostInJoint, limits.registers);
  limits.slack = root.integer("default_slack", 0, kMostInJoint, 0);
  limits.most_registers = maybe_integer(root, "reg_budget", 1, kMostInJoint);
  for (const Cursor& registers : root.list("warp_footprint"))
    limits.width_registers.push_back(registers.integer(0, kMostInJoint).value_or(0));
}

std::vector<std::pair<std::int64_t, std::int64_t>> read_map(ObjectReader& root, const char* key, bool required) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  const auto at = required ? root.require(key) : root.find(key);
  if (!at || at->json().is_null()) return pairs;
  const Json::Object* members = at->json().members();
  if (!members) {
    at->fault("expected an object of numbers, found " + describe(at->json()));
    return pairs;
  }
  for (const JsonMember& member : *members) {
    const auto id = read_number<std::int64_t>(member.key);
    const Cursor item(member.value, pointer_to(at->pointer(), member.key), at->log());
    if (!id)
      item.fault(fmt::format("expected the number of a node as key, found \"{}\"", member.key));
    else
      pairs.emplace_back(*id, item.integer(0, kMostCycles).value_or(0));
  }
  return pairs;
}

}  // namespace

void read_joint_problem(ObjectReader& root, Dump& dump) {
  const std::string version = root.string("version");
  const bool groups = version == "joint-solver-0.2";
  if (!groups && version != "joint-solver-0.1")
    root.find("version")->fault(fmt::format("version \"{}\" is not known", version), "expected joint-solver-0.1 or joint-solver-0.2");
  dump.format = groups ? Format::JointGroups : Format::JointCycles;
  dump.kernel = groups ? "joint_groups" : "joint_cycles";
  DumpLoop& loop = dump.loops.emplace_back();
  dump.smem_budget = root.integer("smem_budget", 0, kMostInJoint, dump.smem_budget);
  std::vector<bool> streaming;
  read_nodes(root, loop, groups, streaming);
  read_edges(root, loop, streaming);
  if (groups) {
    loop.stated_ii = root.integer("ii", 1, kMostCycles);
    loop.cycles_given = root.string("mode") == "partition";
    dump.max_groups = root.integer("max_wgs", 1, 1 << 20, 0);
    dump.tmem_budget = root.integer("tmem_budget_bytes", 0, kMostInJoint, dump.tmem_budget);
    read_clusters(root, loop);
    read_rings(root, loop, "producer", 512);
    read_lowering(root, loop);
    read_limits(root, loop.joint, !loop.cycles_given);
  } else {
    loop.min_ii = root.integer("min_ii", 1, kMostCycles);
    loop.max_ii = root.integer("max_ii", 1, kMostCycles);
    if (*loop.min_ii > *loop.max_ii) root.cursor().fault(fmt::format("min_ii {} is larger than max_ii {}", *loop.min_ii, *loop.max_ii));
    dump.tmem_budget = root.integer("tmem_col_limit", 0, 1 << 20, 512) * 512;
    read_rings(root, loop, "alloc_node", 512);
  }
  if (const auto at = root.find("canonical_root"); at && !at->json().is_null())
    if (const auto id = at->integer(-kMostInJoint, kMostInJoint))
      if (const auto node = node_at(loop, *at, *id)) loop.canonical_root = static_cast<int>(*node);
  finish_loop(loop, {}, std::vector<int>(loop.nodes.size(), -1), root.cursor().log());
}

Result<JointSolution> parse_joint_solution(std::string_view text, const std::string& file) {
  const Result<Json> json = parse_json(text, file);
  if (!json) return json.error();
  ReadLog log{file, {}, {}, {}};
  JointSolution solution;
  {
    ObjectReader root(Cursor(*json, {}, log));
    const std::string status = root.string("status");
    if (status != "ok") {
      root.cursor().fault(fmt::format("the solver's status is \"{}\": there is no schedule in this file", status), root.string("message"));
    } else {
      solution.ii = root.integer("ii", 1, kMostCycles, 0);
      solution.cycles = read_map(root, "cycles", true);
      solution.groups = read_map(root, "wg", false);
      solution.depths = read_map(root, "buffer_depths", false);
    }
  }
  cut_off(log.faults, "faults");
  if (!log.faults.empty()) return log.error();
  return solution;
}

}  // namespace heddle::dump
