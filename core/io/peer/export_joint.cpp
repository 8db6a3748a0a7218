// Answers to joint-solver problems.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/saturate.h"
#include "core/io/json.h"
#include "core/io/peer/export.h"
#include "core/peer/native.h"

namespace heddle::peer {
namespace {

struct Answer {
  const Dump& dump;
  const Loop& loop;
  Cycle ii;
  std::vector<Cycle> cycle;         ///< per node
  std::vector<std::size_t> group;   ///< per node, of the schedule
  Error error;

  void object(std::string message, std::string hint = {}) { error.faults.push_back({dump.file, {}, std::move(message), std::move(hint)}); }
  std::int64_t stage(std::size_t node) const { return cycle[node] / ii; }

  /// Slots of a ring by the stages of its direct readers.
  std::int64_t depth(const Ring& ring) const {
    std::int64_t last = stage(ring.writer);
    for (const std::size_t reader : ring.readers) last = std::max(last, stage(reader));
    return last - stage(ring.writer) + 1;
  }

  std::int64_t smem() const {
    std::int64_t sum = 0;
    for (const Ring& ring : loop.rings)
      if (ring.space != TileType::Space::Tmem) sum = sat_add(sum, sat_mul(ring.bytes, depth(ring)));
    return sum;
  }

  Json cycles_json() const {
    std::map<std::int64_t, Cycle> sorted;
    for (std::size_t i = 0; i < cycle.size(); ++i) sorted[loop.nodes[i].id] = cycle[i];
    Json object = Json::object();
    for (const auto& [id, at] : sorted) object.set(std::to_string(id), at);
    return object;
  }

  Json depths_json() const {
    Json object = Json::object();
    for (const Ring& ring : loop.rings)
      if (ring.space != TileType::Space::Tmem) object.set(std::to_string(ring.id), depth(ring));
    return object;
  }
};

/// In flat time, as the format has it: columns of all allocations alive when one begins.
void check_columns(Answer& a) {
  const auto alive = [&](const Ring& ring, Cycle at) {
    Cycle end = a.cycle[ring.writer];
    for (const std::size_t reader : ring.readers) end = std::max(end, a.cycle[reader]);
    return a.cycle[ring.writer] <= at && at < end + 1;
  };
  for (const Ring& begin : a.loop.rings) {
    if (begin.space != TileType::Space::Tmem) continue;
    std::int64_t columns = 0;
    for (const Ring& ring : a.loop.rings)
      if (ring.space == TileType::Space::Tmem && alive(ring, a.cycle[begin.writer])) columns = sat_add(columns, ring.columns);
    if (columns > a.dump.tmem_budget / 512)
      return a.object(fmt::format("{} columns of tensor memory are alive at cycle {}, the problem allows {}", columns, a.cycle[begin.writer], a.dump.tmem_budget / 512));
  }
}

/// 10240000 stages - 102400 slots + 8192 carried spans + 1024 spans + bytes (the format's weights).
std::int64_t objective(const Answer& a) {
  std::int64_t most = 0, slots = 0, carried = 0, spans = 0;
  for (std::size_t i = 0; i < a.cycle.size(); ++i) most = std::max(most, a.stage(i));
  for (const Ring& ring : a.loop.rings)
    if (ring.space != TileType::Space::Tmem) slots += a.depth(ring);
  for (const Edge& e : a.loop.edges) (e.distance > 0 ? carried : spans) += e.distance > 0 ? a.cycle[e.from] - a.cycle[e.to] : a.cycle[e.to] - a.cycle[e.from];
  return 10'240'000 * most - 102'400 * slots + 8'192 * carried + 1'024 * spans + a.smem();
}

Json cycles_answer(Answer& a) {
  if (a.loop.max_ii && a.ii > *a.loop.max_ii) a.object(fmt::format("II {} is above the problem's max_ii {}", a.ii, *a.loop.max_ii));
  if (a.loop.min_ii && a.ii < *a.loop.min_ii)
    a.object(fmt::format("II {} is below the problem's min_ii {}", a.ii, *a.loop.min_ii), "solve with --ii at least as large");
  if (a.loop.canonical_root >= 0 && a.cycle[static_cast<std::size_t>(a.loop.canonical_root)] != 0) a.object("the canonical root does not start at cycle 0");
  for (const Edge& e : a.loop.edges)
    if (e.distance == 0 && a.stage(e.from) > a.stage(e.to)) a.object(fmt::format("{} has an earlier stage than {}, which it depends on", a.loop.nodes[e.to].name, a.loop.nodes[e.from].name));
  if (a.smem() > a.dump.smem_budget)
    a.object(fmt::format("the rings take {} bytes of shared memory, the problem allows {}", a.smem(), a.dump.smem_budget), "solve with fewer stages");
  check_columns(a);
  Json stats = Json::object();
  stats.set("iis_tried", Json::array().push(a.ii)).set("unsat_iis", Json::array()).set("unknown_iis", Json::array()).set("rlimit", 0).set("rlimit_used", 0);
  Json root = Json::object();
  root.set("version", "joint-solver-0.1").set("status", "ok").set("ii", a.ii).set("cycles", a.cycles_json());
  root.set("buffer_depths", a.depths_json()).set("objective", static_cast<double>(objective(a))).set("stats", std::move(stats));
  return root;
}

Json groups_answer(Answer& a) {
  if (a.loop.stated_ii && a.ii != *a.loop.stated_ii) a.object(fmt::format("the schedule has II {}, the problem is for {}", a.ii, *a.loop.stated_ii));
  std::map<std::size_t, std::int64_t> labels;
  std::map<std::int64_t, std::int64_t> of_cluster;
  std::map<std::size_t, std::int64_t> cluster_of;
  for (const Cluster& c : a.loop.clusters) {
    for (const std::size_t node : c.nodes) {
      cluster_of[node] = c.id;
      if (a.group[node] != a.group[c.nodes[0]])
        a.object(fmt::format("{} and {} are one cluster, but in different groups", a.loop.nodes[c.nodes[0]].name, a.loop.nodes[node].name));
    }
    if (c.nodes.empty()) continue;
    // Groups are numbered by first use.
    of_cluster[c.id] = labels.emplace(a.group[c.nodes[0]], static_cast<std::int64_t>(labels.size())).first->second;
  }
  if (a.dump.max_groups > 0 && static_cast<std::int64_t>(labels.size()) > a.dump.max_groups)
    a.object(fmt::format("{} groups are used, the problem allows {}", labels.size(), a.dump.max_groups));
  for (const auto& [x, y] : a.loop.conflicts)
    if (of_cluster.contains(x) && of_cluster.contains(y) && of_cluster[x] == of_cluster[y]) a.object(fmt::format("clusters {} and {} must not share a group", x, y));
  for (const Edge& e : a.loop.edges) {
    if (!cluster_of.contains(e.from) || !cluster_of.contains(e.to) || cluster_of[e.from] == cluster_of[e.to]) continue;
    const bool same = a.group[e.from] == a.group[e.to];
    const Node &from = a.loop.nodes[e.from], &to = a.loop.nodes[e.to];
    if (same && from.unit == "TC" && (to.unit == "CUDA" || to.unit == "SFU")) a.object(fmt::format("the result of {} must reach {} in another group", from.name, to.name));
    if (!same && e.distance > 0 && e.carrier == Carrier::Register) a.object(fmt::format("{} and {} carry a register tile between iterations and must share a group", from.name, to.name));
  }
  Json wg = Json::object();
  for (const auto& [cluster, label] : of_cluster) wg.set(std::to_string(cluster), label);
  Json root = Json::object();
  root.set("version", "joint-solver-0.2").set("status", "ok").set("wg", std::move(wg)).set("cycles", a.cycles_json());
  root.set("used_wgs", labels.size()).set("buffer_depths", a.depths_json());
  return root.set("stats", Json::object().set("rlimit", 0).set("rlimit_used", 0));
}

}  // namespace

Result<std::string> export_joint_solution(const Dump& dump, const Problem& problem, const Schedule& schedule) {
  if (dump.format != Format::JointCycles && dump.format != Format::JointGroups)
    return Error{ErrorKind::Input, {{dump.file, {}, fmt::format("a {} file is no joint-solver problem", to_string(dump.format)), "give the problem that is to be answered"}}};
  const Loop& loop = dump.loops[0];
  Answer a{dump, loop, schedule.ii, {}, {}, {}};
  Cycle first = kSaturated;
  for (const Node& n : loop.nodes) {
    const OpId op = problem.find_op(n.name);
    if (!op.valid()) return Error{ErrorKind::Input, {{dump.file, {}, fmt::format("the schedule has no op {}", n.name), {}}}};
    a.cycle.push_back(schedule.start(op));
    a.group.push_back(schedule.group(op).index());
    first = std::min(first, a.cycle.back());
  }
  if (dump.format == Format::JointCycles)
    for (Cycle& c : a.cycle) c -= first;
  const Json root = dump.format == Format::JointCycles ? cycles_answer(a) : groups_answer(a);
  if (!a.error.faults.empty()) return a.error;
  return root.pretty();
}

}  // namespace heddle::peer
