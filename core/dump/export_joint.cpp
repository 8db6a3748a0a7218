// Answers to joint-solver problems.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "core/base/integer_division.h"
#include "core/base/json.h"
#include "core/base/saturate.h"
#include "core/dump/export.h"
#include "core/dump/native.h"

namespace heddle::dump {
namespace {

/// What is proved here is the II; the weighted sums of these formats are not what Heddle minimizes.
constexpr const char* kNotMinimized = "the objective is evaluated at this schedule, not minimized";

struct Answer {
  const Dump& dump;
  const DumpLoop& loop;
  Cycle ii;
  std::vector<Cycle> cycle;        ///< per node
  std::vector<std::size_t> group;  ///< per node, of the schedule
  Error error;

  void object(std::string message, std::string hint = {}, const char* part = "") {
    error.faults.push_back({dump.file, {}, std::move(message), std::move(hint), part});
  }
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
      return a.object(fmt::format("{} columns of tensor memory are alive at cycle {}, the problem allows {}", columns,
                                  a.cycle[begin.writer], a.dump.tmem_budget / 512));
  }
}

/// 10240000 stages - 102400 slots + 8192 carried spans + 1024 spans + bytes (the format's weights).
std::int64_t objective(const Answer& a) {
  std::int64_t most = 0, slots = 0, carried = 0, spans = 0;
  for (std::size_t i = 0; i < a.cycle.size(); ++i) most = std::max(most, a.stage(i));
  for (const Ring& ring : a.loop.rings)
    if (ring.space != TileType::Space::Tmem) slots += a.depth(ring);
  for (const DumpEdge& e : a.loop.edges)
    (e.distance > 0 ? carried : spans) += e.distance > 0 ? a.cycle[e.from] - a.cycle[e.to] : a.cycle[e.to] - a.cycle[e.from];
  return 10'240'000 * most - 102'400 * slots + 8'192 * carried + 1'024 * spans + a.smem();
}

Json cycles_answer(Answer& a) {
  if (a.loop.max_ii && a.ii > *a.loop.max_ii) a.object(fmt::format("II {} is above the problem's max_ii {}", a.ii, *a.loop.max_ii));
  if (a.loop.min_ii && a.ii < *a.loop.min_ii)
    a.object(fmt::format("II {} is below the problem's min_ii {}", a.ii, *a.loop.min_ii), {}, "least II");
  if (a.loop.canonical_root >= 0 && a.cycle[static_cast<std::size_t>(a.loop.canonical_root)] != 0)
    a.object("the canonical root does not start at cycle 0");
  for (const DumpEdge& e : a.loop.edges)
    if (e.distance == 0 && a.stage(e.from) > a.stage(e.to))
      a.object(fmt::format("{} has an earlier stage than {}, which it depends on", a.loop.nodes[e.to].name, a.loop.nodes[e.from].name));
  if (a.smem() > a.dump.smem_budget)
    a.object(fmt::format("the rings take {} bytes of shared memory, the problem allows {}", a.smem(), a.dump.smem_budget),
             "solve with fewer stages");
  check_columns(a);
  Json stats = Json::object();
  stats.set("iis_tried", Json::array().push(a.ii))
      .set("unsat_iis", Json::array())
      .set("unknown_iis", Json::array())
      .set("rlimit", 0)
      .set("rlimit_used", 0);
  Json root = Json::object();
  root.set("version", "joint-solver-0.1").set("status", "ok").set("ii", a.ii).set("cycles", a.cycles_json());
  root.set("buffer_depths", a.depths_json()).set("objective", static_cast<double>(objective(a)));
  root.set("objective_minimized", false).set("message", kNotMinimized).set("stats", std::move(stats));
  return root;
}

/// joint-solver-0.2: groups of clusters, at cycles that are given or nearly so.
class GroupsAnswer {
 public:
  explicit GroupsAnswer(Answer& answer) : a_(answer), loop_(answer.loop) {
    for (const Cluster& c : loop_.clusters) {
      for (const std::size_t node : c.nodes) {
        cluster_of_[node] = c.id;
        if (a_.group[node] != a_.group[c.nodes[0]])
          a_.object(
              fmt::format("{} and {} are one cluster, but in different groups", loop_.nodes[c.nodes[0]].name, loop_.nodes[node].name));
      }
      // Groups are numbered by first use.
      if (!c.nodes.empty())
        of_cluster_[c.id] = labels_.emplace(a_.group[c.nodes[0]], static_cast<std::int64_t>(labels_.size())).first->second;
    }
  }

  Json run() {
    judge();
    Json wg = Json::object();
    for (const auto& [cluster, label] : of_cluster_) wg.set(std::to_string(cluster), label);
    Json depths = Json::object();
    for (const Ring& ring : loop_.rings)
      if (ring.space != TileType::Space::Tmem) depths.set(std::to_string(ring.id), depth(ring));
    Json root = Json::object();
    root.set("version", "joint-solver-0.2").set("status", "ok").set("wg", std::move(wg)).set("cycles", a_.cycles_json());
    root.set("used_wgs", labels_.size()).set("objective", loop_.joint.moves ? objective_of_moves() : objective_of_groups());
    root.set("objective_minimized", false).set("message", kNotMinimized);
    root.set("buffer_depths", std::move(depths)).set("lowering_plan", lowering_plan());
    return root.set("stats", Json::object().set("rlimit", 0).set("rlimit_used", 0));
  }

 private:
  using Relation = LoweringTemplate::Relation;

  bool between_clusters(const DumpEdge& e) const {
    return cluster_of_.contains(e.from) && cluster_of_.contains(e.to) && cluster_of_.at(e.from) != cluster_of_.at(e.to);
  }
  bool cut(const DumpEdge& e) const { return between_clusters(e) && a_.group[e.from] != a_.group[e.to]; }

  std::int64_t depth(const Ring& ring) const {
    Cycle last = a_.cycle[ring.writer];
    for (std::size_t r = 0; r < ring.readers.size(); ++r)
      last = std::max(last, sat_add(sat_add(a_.cycle[ring.readers[r]], ring.ends[r].first), sat_mul(ring.ends[r].second, a_.ii)));
    return std::max(ring.least, (last - a_.cycle[ring.writer]) / a_.ii + 1);
  }

  /// Of channels between groups, each result once.
  std::int64_t channel_bytes() const {
    std::set<std::tuple<std::size_t, std::size_t, std::int64_t>> seen;
    std::int64_t bytes = 0;
    for (const DumpEdge& e : loop_.edges)
      if (e.bytes > 0 && between_clusters(e) && seen.insert({e.from, e.to, e.result}).second && cut(e)) bytes = sat_add(bytes, e.bytes);
    return bytes;
  }

  std::int64_t ring_bytes(TileType::Space space) const {
    std::int64_t bytes = 0;
    for (const Ring& ring : loop_.rings)
      if ((ring.space == TileType::Space::Tmem) == (space == TileType::Space::Tmem))
        bytes = sat_add(bytes, sat_mul(ring.bytes, depth(ring)));
    return bytes;
  }

  std::int64_t smem() const {
    return sat_add(sat_add(loop_.joint.smem, channel_bytes()), loop_.joint.moves ? ring_bytes(TileType::Space::Smem) : 0);
  }

  std::int64_t registers() const {
    std::map<std::int64_t, std::size_t> warps;
    for (const Cluster& c : loop_.clusters)
      if (of_cluster_.contains(c.id))
        warps[of_cluster_.at(c.id)] = std::max(warps[of_cluster_.at(c.id)], static_cast<std::size_t>(std::max(1, c.min_warps)));
    std::int64_t sum = loop_.joint.default_registers;
    for (const auto& [group, needed] : warps) {
      const std::size_t width = std::bit_ceil(needed);
      if (width < loop_.joint.width_registers.size()) sum = sat_add(sum, loop_.joint.width_registers[width]);
    }
    return sum;
  }

  /// Beyond the register file and what the default group can give up.
  std::int64_t residual() const {
    const std::int64_t beyond = std::max<std::int64_t>(0, registers() - loop_.joint.registers);
    return std::max<std::int64_t>(0, beyond - loop_.joint.slack);
  }

  void judge() {
    if (loop_.stated_ii && a_.ii != *loop_.stated_ii)
      a_.object(fmt::format("the schedule has II {}, the problem is for {}", a_.ii, *loop_.stated_ii));
    if (a_.dump.max_groups > 0 && static_cast<std::int64_t>(labels_.size()) > a_.dump.max_groups)
      a_.object(fmt::format("{} groups are used, the problem allows {}", labels_.size(), a_.dump.max_groups));
    for (const auto& [x, y] : loop_.conflicts)
      if (of_cluster_.contains(x) && of_cluster_.contains(y) && of_cluster_[x] == of_cluster_[y])
        a_.object(fmt::format("clusters {} and {} must not share a group", x, y));
    for (const DumpEdge& e : loop_.edges) {
      if (!between_clusters(e)) continue;
      const DumpNode &from = loop_.nodes[e.from], &to = loop_.nodes[e.to];
      if (!cut(e) && (from.unit == "TC" || from.unit == "MFMA") && (to.unit == "CUDA" || to.unit == "SFU"))
        a_.object(fmt::format("the result of {} must reach {} in another group", from.name, to.name));
      if (cut(e) && e.distance > 0 && e.carrier == Carrier::Register)
        a_.object(fmt::format("{} and {} carry a register tile between iterations and must share a group", from.name, to.name));
    }
    if (smem() > a_.dump.smem_budget)
      a_.object(fmt::format("{} bytes of shared memory are needed, the problem allows {}", smem(), a_.dump.smem_budget));
    if (const std::int64_t tmem = ring_bytes(TileType::Space::Tmem); tmem > a_.dump.tmem_budget)
      a_.object(fmt::format("{} bytes of tensor memory are needed, the problem allows {}", tmem, a_.dump.tmem_budget));
    if (loop_.joint.most_registers && registers() > *loop_.joint.most_registers)
      a_.object(fmt::format("the groups take {} registers, the problem allows {}", registers(), *loop_.joint.most_registers));
  }

  /// Slots of a period in which both are issued.
  Cycle overlap(std::size_t x, std::size_t y) const {
    const auto parts = [&](std::size_t node) {
      const Cycle length = std::min(loop_.nodes[node].occupancy, a_.ii), begin = modulo(a_.cycle[node], a_.ii);
      return std::array{std::pair(begin, std::min(a_.ii, begin + length)), std::pair(Cycle{0}, std::max<Cycle>(0, begin + length - a_.ii))};
    };
    Cycle sum = 0;
    for (const auto& [b0, e0] : parts(x))
      for (const auto& [b1, e1] : parts(y)) sum += std::max<Cycle>(0, std::min(e0, e1) - std::max(b0, b1));
    return sum;
  }

  /// Twice the cycles that the partition costs, registers beyond the file, less one for every group.
  std::int64_t objective_of_groups() const {
    std::int64_t cycles = 0;
    const auto& nodes = loop_.nodes;
    for (std::size_t i = 0; i < loop_.clusters.size(); ++i)
      for (std::size_t j = i + 1; j < loop_.clusters.size(); ++j)
        for (const std::size_t x : loop_.clusters[i].nodes)
          for (const std::size_t y : loop_.clusters[j].nodes)
            if (a_.group[x] == a_.group[y] && nodes[x].unit != nodes[y].unit)
              cycles = sat_add(cycles, sat_mul(overlap(x, y), std::max(nodes[x].frequency, nodes[y].frequency)));
    for (const DumpEdge& e : loop_.edges) {
      if (!cut(e) || (e.distance > 0 && e.round_trip > 0)) continue;
      const Cycle slack = a_.cycle[e.to] - a_.cycle[e.from] - e.latency + sat_mul(e.distance, a_.ii);
      const Cycle missing = e.round_trip > 0 ? std::max<Cycle>(0, e.round_trip - std::max<Cycle>(0, slack)) : 0;
      cycles = sat_add(cycles, sat_add(sat_mul(missing, e.frequency), e.cross_issue));
    }
    std::map<std::size_t, std::int64_t> issue;
    for (const Cluster& c : loop_.clusters)
      for (const std::size_t node : c.nodes)
        issue[a_.group[node]] = sat_add(issue[a_.group[node]], sat_mul(nodes[node].occupancy, nodes[node].frequency));
    for (const auto& [group, busy] : issue) cycles = sat_add(cycles, std::max<std::int64_t>(0, busy - a_.ii));
    return sat_add(sat_add(sat_mul(2, cycles), residual()), -static_cast<std::int64_t>(labels_.size()));
  }

  std::int64_t objective_of_moves() const {
    std::int64_t most = 0, slots = 0, carried = 0, spans = 0, issue = 0;
    for (std::size_t i = 0; i < a_.cycle.size(); ++i) most = std::max(most, a_.stage(i));
    for (const Ring& ring : loop_.rings)
      if (ring.space != TileType::Space::Tmem) slots += depth(ring);
    for (const DumpEdge& e : loop_.edges)
      (e.distance > 0 ? carried : spans) += e.distance > 0 ? a_.cycle[e.from] - a_.cycle[e.to] : a_.cycle[e.to] - a_.cycle[e.from];
    for (const DumpEdge& e : loop_.edges) {
      const bool planned = std::any_of(loop_.lowering.begin(), loop_.lowering.end(), [&](const LoweringTemplate& t) {
        return !t.events.empty() && t.from == e.from && t.to == e.to && t.events[0].distance == e.distance;
      });
      if (cut(e) && !planned && !(e.distance > 0 && e.round_trip > 0)) issue = sat_add(issue, e.cross_issue);
    }
    return 10'240'000 * most - 102'400 * slots + 8'192 * carried + 1'024 * spans + smem() + sat_mul(1'024, issue) +
           sat_mul(512, residual()) - static_cast<std::int64_t>(labels_.size());
  }

  /// Events before an anchor end with its start, those after begin with the end of its issue, in the order of templates and ids;
  /// each group counts its events in the order of their cycles.
  Json lowering_plan() const {
    struct Planned {
      const LoweringTemplate* of;
      const LoweringEvent* event;
      std::int64_t wg, cycle, order;
    };
    std::map<std::pair<std::size_t, bool>, std::vector<Planned>> beside;  // by anchor, after it or not
    for (const LoweringTemplate& t : loop_.lowering)
      for (const LoweringEvent& e : t.events)
        if (active(t)) beside[{e.anchor, !e.before}].push_back({&t, &e, of_cluster_.at(e.of_source ? t.from_cluster : t.to_cluster), 0, 0});
    std::vector<Planned> all;
    for (auto& [place, events] : beside) {
      std::sort(events.begin(), events.end(),
                [](const Planned& x, const Planned& y) { return std::pair(x.of->id, x.event->id) < std::pair(y.of->id, y.event->id); });
      Cycle at = a_.cycle[place.first];
      if (place.second)
        at += std::max<Cycle>(1, loop_.nodes[place.first].occupancy);
      else
        for (const Planned& p : events) at = sat_add(at, -p.event->duration);
      for (Planned& p : events) {
        p.cycle = at;
        at = sat_add(at, p.event->duration);
        all.push_back(p);
      }
    }
    std::sort(all.begin(), all.end(), [](const Planned& x, const Planned& y) {
      return std::tuple(x.wg, x.cycle, !x.event->before, x.of->id, x.event->id) <
             std::tuple(y.wg, y.cycle, !y.event->before, y.of->id, y.event->id);
    });
    std::map<std::int64_t, std::int64_t> next;
    for (Planned& p : all) p.order = next[p.wg]++;
    Json templates = Json::array();
    for (const LoweringTemplate& t : loop_.lowering) {
      Json events = Json::array();
      for (const LoweringEvent& e : t.events)
        for (const Planned& p : all)
          if (p.event == &e) events.push(Json::object().set("id", e.id).set("cycle", p.cycle).set("wg", p.wg).set("stream_order", p.order));
      templates.push(Json::object().set("id", t.id).set("active", active(t)).set("events", std::move(events)));
    }
    return Json::object().set("version", "lowering-plan-0.1").set("templates", std::move(templates));
  }

  bool active(const LoweringTemplate& t) const {
    return t.relation == Relation::Always ||
           (of_cluster_.at(t.from_cluster) == of_cluster_.at(t.to_cluster)) == (t.relation == Relation::SameGroup);
  }

  Answer& a_;
  const DumpLoop& loop_;
  std::map<std::size_t, std::int64_t> labels_;       ///< of the schedule's groups
  std::map<std::int64_t, std::int64_t> of_cluster_;  ///< label by cluster
  std::map<std::size_t, std::int64_t> cluster_of_;   ///< by node
};

Result<Ok> is_joint_problem(const Dump& dump) {
  if (dump.format == Format::JointCycles || dump.format == Format::JointGroups) return Ok{};
  return Error{ErrorKind::Input,
               {{dump.file,
                 {},
                 fmt::format("a {} file is no joint-solver problem", to_string(dump.format)),
                 "give the problem that is to be answered"}}};
}

}  // namespace

Result<std::string> export_joint_solution(const Dump& dump, const Problem& problem, const Schedule& schedule) {
  if (const Result<Ok> fine = is_joint_problem(dump); !fine) return fine.error();
  const DumpLoop& loop = dump.loops[0];
  Answer a{dump, loop, schedule.ii, {}, {}, {}};
  Cycle first = kSaturated;
  for (const DumpNode& n : loop.nodes) {
    const OpId op = problem.find_op(n.name);
    if (!op.valid()) return Error::in_file(dump.file, fmt::format("the schedule has no op {}", n.name));
    a.cycle.push_back(schedule.start(op));
    a.group.push_back(schedule.group(op).index());
    first = std::min(first, a.cycle.back());
  }
  if (dump.format == Format::JointCycles)
    for (Cycle& c : a.cycle) c -= first;
  const Json root = dump.format == Format::JointCycles ? cycles_answer(a) : GroupsAnswer(a).run();
  if (!a.error.faults.empty()) return a.error;
  return root.pretty();
}

Result<std::string> export_joint_failure(const Dump& dump, const SolveOutcome& outcome) {
  if (const Result<Ok> fine = is_joint_problem(dump); !fine) return fine.error();
  const DumpLoop& loop = dump.loops[0];
  const bool cycles = dump.format == Format::JointCycles, proved = outcome.status == Status::Infeasible;
  const Cycle ii = cycles ? loop.max_ii.value_or(0) : loop.stated_ii.value_or(0);
  Json stats = Json::object(), none = Json::array(), asked = Json::array();
  asked.push(ii);
  if (cycles) stats.set("iis_tried", asked).set("unsat_iis", proved ? asked : none).set("unknown_iis", proved ? none : asked);
  stats.set("rlimit", 0).set("rlimit_used", 0);
  Json root = Json::object();
  root.set("version", to_string(dump.format)).set("status", proved ? "infeasible" : "inconclusive").set("proven_unsat", proved);
  root.set("backend_status", proved ? "INFEASIBLE" : "UNKNOWN");
  if (!proved) {
    root.set("budget_exhausted", outcome.timed_out ? "walltime" : "none");
    root.set("diagnostic", Json::object()
                               .set("schema", "joint-solver-diagnostic-0.1")
                               .set("status", "inconclusive")
                               .set("ii", ii)
                               .set("message", outcome.explanation));
  }
  return root.set("message", outcome.explanation).set("stats", std::move(stats)).pretty();
}

}  // namespace heddle::dump
