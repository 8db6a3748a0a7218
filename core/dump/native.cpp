#include "core/dump/native.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/analysis/channels.h"
#include "core/base/saturate.h"
#include "core/dump/views.h"

namespace heddle::dump {
namespace {

constexpr std::size_t kMostInputs = 60;  ///< of an opaque op, with some to spare
constexpr const char* kInnerLoop = "INNER_LOOP";
constexpr int kLeastGroups = 4;  ///< worth considering where the file has none

struct KnownUnit {
  const char* name;
  UnitRole role;
  const char* about;
};
constexpr KnownUnit kUnits[] = {
    {"TC", UnitRole::Tensor, "tensor core"},         {"MFMA", UnitRole::Tensor, "matrix core"},
    {"TMA", UnitRole::Copy, "bulk copies"},          {"GLOBAL", UnitRole::Copy, "global memory"},
    {"CUDA", UnitRole::Float, "CUDA cores"},         {"VALU", UnitRole::Float, "vector ALU"},
    {"SFU", UnitRole::Special, "special functions"}, {"LDS", UnitRole::Smem, "shared memory"},
    {"TMEM", UnitRole::Tmem, "tensor memory port"},  {kInnerLoop, UnitRole::Other, "the warp groups of an inner loop"},
};

UnitRole role_of(const std::string& unit) {
  for (const KnownUnit& known : kUnits)
    if (unit == known.name) return known.role;
  return UnitRole::Other;
}

bool asynchronous(const DumpNode& node) {
  const UnitRole role = role_of(node.unit);
  return node.super || role == UnitRole::Tensor || role == UnitRole::Copy;
}

Expr number(std::int64_t value) { return Expr(std::max<std::int64_t>(0, value)); }

std::vector<UnitCost> uses_of(const DumpNode& node, DumpReading reading) {
  std::vector<UnitCost> uses;
  for (const UnitTime& use : node.table) uses.push_back({use.unit, number(use.offset), number(use.duration), number(use.amount)});
  // The compiler reserves a slot even for what takes none.
  const Cycle duration = std::max<Cycle>(1, reading == DumpReading::Full ? node.occupancy : node.self_latency);
  // An inner loop runs on its own groups, one run after the other: no II below its length.
  if (node.super && node.latency > 0) uses.push_back({kInnerLoop, Expr(0), number(node.latency), Expr(1)});
  if (uses.empty() && !node.unit.empty()) {
    uses.push_back({node.unit, Expr(0), number(duration), Expr(1)});
    // The lower bound that the compiler starts from is the sum of a unit's occupancies.
    if (reading == DumpReading::IssueSlots && node.occupancy > duration) uses.back().in_sum = number(node.occupancy);
  }
  return uses;
}

/// A tile of so many bytes where the element type has no like of its size.
TileValue value_of(const TileType& type, std::string name, Space space) {
  TileValue value;
  value.name = std::move(name);
  value.space = space;
  value.dtype = nearest_dtype(type);
  if (bits_of(value.dtype) == type.bits && !type.shape.empty()) {
    for (const std::int64_t extent : type.shape) value.shape.push_back(Expr(std::max<std::int64_t>(1, extent)));
  } else {
    value.dtype = DType::F8e4m3;
    value.shape = {Expr(std::max<std::int64_t>(1, type.bytes()))};
  }
  if (space == Space::Register) value.registers = Expr(0);
  return value;
}

/// Storage of so many bytes, or of so many columns of 128 lanes and 4 bytes.
TileType plain_tile(TileType::Space space, std::int64_t bytes, std::int64_t columns) {
  TileType type;
  type.space = space;
  type.element = space == TileType::Space::Tmem ? "f32" : "f8E4M3FN";
  type.bits = space == TileType::Space::Tmem ? 32 : 8;
  if (space == TileType::Space::Tmem)
    type.shape = {128, std::max<std::int64_t>(1, columns)};
  else
    type.shape = {std::max<std::int64_t>(1, bytes)};
  return type;
}

class KernelBuilder {
 public:
  KernelBuilder(const Dump& dump, DumpLoop loop, DumpReading reading) : dump_(dump), loop_(std::move(loop)), reading_(reading) {}

  Kernel run() {
    kernel_.name = dump_.loops.size() > 1 ? fmt::format("{}_loop{}", dump_.kernel, loop_.id) : dump_.kernel;
    kernel_.about = fmt::format("loop {} of a {} file; reading: {}", loop_.id, to_string(dump_.format), to_string(reading_));
    kernel_.source = dump_.file + ", as a kernel";  // pointers of later faults are not those of the file
    kernel_.loop.variable = "i";
    kernel_.loop.trips = Expr(std::max<std::int64_t>(1, loop_.trips));
    ops();
    if (reading_ == DumpReading::Full) {
      rings();
      register_tiles();
      residents();
    }
    edges();
    root();
    sort();
    kernel_.max_groups = most_groups();
    return std::move(kernel_);
  }

 private:
  int most_groups() const {
    std::set<std::int64_t> groups;
    for (const DumpNode& n : loop_.nodes)
      if (n.group >= 0) groups.insert(n.group);
    std::size_t count = std::max<std::size_t>(groups.size(), loop_.clusters.size());
    if (dump_.max_groups > 0) count = std::min<std::size_t>(count, static_cast<std::size_t>(dump_.max_groups));
    return std::clamp(static_cast<int>(count), kLeastGroups, 16);
  }

  void ops() {
    for (const DumpNode& n : loop_.nodes) {
      TileOp& op = kernel_.body.emplace_back();
      op.name = n.name;
      op.kind = "opaque";
      if (!n.native.empty()) op.attrs["stands_for"] = n.native;
      op.attrs["what"] = n.what;
      CostOverride& cost = op.cost.emplace();
      cost.uses = uses_of(n, reading_);
      cost.latency = number(n.latency);
      cost.warps = Expr(reading_ == DumpReading::Full || !loop_.clusters.empty() ? n.min_warps : 1);
      cost.window = number(reading_ == DumpReading::Full ? n.self_latency : 0);
      cost.asynchronous = reading_ == DumpReading::Full && asynchronous(n);
      cost.variable_latency = false;
      cost.aligned = false;
    }
  }

  void add_value(std::size_t writer, const TileType& type, Space space) {
    std::string name = loop_.nodes[writer].name;
    kernel_.values.push_back(value_of(type, name, space));
    kernel_.body[writer].outputs.push_back(std::move(name));
  }

  bool read(std::size_t reader, std::size_t writer, int distance) {
    TileOp& op = kernel_.body[reader];
    if (op.inputs.size() >= kMostInputs) return false;
    op.inputs.push_back({kernel_.body[writer].outputs[0], distance});
    return true;
  }

  /// Tiles in shared and tensor memory that the loop fills again in every iteration.
  void rings() {
    for (const Ring& ring : loop_.rings) {
      if (!kernel_.body[ring.writer].outputs.empty()) continue;
      const bool tensor = ring.space == TileType::Space::Tmem;
      if (ring.bytes + ring.columns <= 0) continue;
      add_value(ring.writer, plain_tile(ring.space, ring.bytes, ring.columns), tensor ? Space::Tmem : Space::Smem);
      for (const std::size_t reader : ring.readers)
        if (reader != ring.writer) read(reader, ring.writer, 0);
    }
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) {
      const DumpNode& n = loop_.nodes[i];
      if (!kernel_.body[i].outputs.empty() || !n.result.tile()) continue;
      const bool load = is_load(n), allocates = n.view && n.kind.ends_with("_alloc");
      if (!load && !allocates) continue;
      const auto readers = readers_through_views(loop_, i);
      if (readers.empty()) continue;
      add_value(i, n.result, !load && n.result.space == TileType::Space::Tmem ? Space::Tmem : Space::Smem);
      for (const auto& [reader, distance] : readers) read(reader, i, distance);
    }
  }

  /// A tile in registers goes through a channel where it crosses groups.
  void register_tiles() {
    for (std::size_t k = 0; k < loop_.edges.size(); ++k) {
      const DumpEdge& e = loop_.edges[k];
      const DumpNode& from = loop_.nodes[e.from];
      if (e.carrier != Carrier::Register || e.latency != from.latency || e.bytes <= 0) continue;
      TileOp& writer = kernel_.body[e.from];
      if (writer.outputs.empty()) add_value(e.from, plain_tile(TileType::Space::Smem, e.bytes, 0), Space::Register);
      if (const TileValue* value = kernel_.find_value(writer.outputs[0]); value->space != Space::Register) continue;
      if (read(e.to, e.from, e.distance)) carried_.insert(k);
    }
  }

  void add_resident(const TileType& type, const std::vector<std::size_t>& users) {
    std::string name = fmt::format("resident_{}", kernel_.prologue.size());
    kernel_.values.push_back(value_of(type, name, type.space == TileType::Space::Tmem ? Space::Tmem : Space::Smem));
    TileOp& op = kernel_.prologue.emplace_back();
    op.name = name;
    op.kind = "fill";
    op.outputs = {name};
    for (const std::size_t user : users)
      if (kernel_.body[user].inputs.size() < kMostInputs) kernel_.body[user].inputs.push_back({name, 0});
  }

  void residents() {
    for (const Resident& r : loop_.residents) add_resident(r.tile, r.users);
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i)
      if (const DumpNode& n = loop_.nodes[i]; n.native == "tma_store" && n.result.tile()) {
        TileType staging = n.result;
        staging.space = TileType::Space::Smem;
        add_resident(staging, {i});
      }
  }

  void edges() {
    for (std::size_t k = 0; k < loop_.edges.size(); ++k) {
      if (carried_.contains(k)) continue;
      const DumpEdge& e = loop_.edges[k];
      OrderEdge& order = kernel_.order.emplace_back();
      order.from = loop_.nodes[e.from].name;
      order.to = loop_.nodes[e.to].name;
      order.latency = number(e.latency);
      order.distance = e.distance;
      order.handoff = number(reading_ == DumpReading::Full ? crossing_cost(e) : 0);
    }
  }

  /// The node that a joint-solver problem wants at cycle 0 is before all others.
  void root() {
    if (loop_.canonical_root < 0) return;
    const auto root = static_cast<std::size_t>(loop_.canonical_root);
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) {
      if (i == root) continue;
      OrderEdge& order = kernel_.order.emplace_back();
      order.from = loop_.nodes[root].name;
      order.to = loop_.nodes[i].name;
      order.latency = Expr(0);
      order.handoff = Expr(0);
    }
  }

  /// A kernel's body defines values before it reads them; a dump's nodes may stand in any order.
  void sort() {
    std::vector<int> open(loop_.nodes.size(), 0);
    for (const DumpEdge& e : loop_.edges) open[e.to] += e.distance == 0;
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < open.size(); ++i)
      if (open[i] == 0) ready.insert(i);
    std::vector<TileOp> sorted;
    while (!ready.empty()) {
      const std::size_t i = *ready.begin();
      ready.erase(ready.begin());
      sorted.push_back(std::move(kernel_.body[i]));
      for (const DumpEdge& e : loop_.edges)
        if (e.from == i && e.distance == 0 && --open[e.to] == 0) ready.insert(e.to);
    }
    kernel_.body = std::move(sorted);
  }

  const Dump& dump_;
  const DumpLoop loop_;
  const DumpReading reading_;
  Kernel kernel_;
  std::set<std::size_t> carried_;  ///< edges that are operands
};

}  // namespace

DumpReading default_reading(Format format) {
  return format == Format::Ddg || format == Format::ScheduleGraph ? DumpReading::Full : DumpReading::IssueSlots;
}

const char* to_string(DumpReading reading) { return reading == DumpReading::Full ? "full" : "issue-slots"; }

std::optional<DumpReading> parse_reading(std::string_view word) {
  if (word == "full") return DumpReading::Full;
  if (word == "issue-slots") return DumpReading::IssueSlots;
  return std::nullopt;
}

Cycle crossing_cost(const DumpEdge& edge) {
  switch (edge.carrier) {
    case Carrier::Scalar: return 0;
    case Carrier::Register: return kCrossRegister + edge.bytes / kCrossBytesPerCycle;
    case Carrier::Memory: return kCrossBarrier;
  }
  return 0;
}

bool is_load(const DumpNode& node) {
  return node.native == "tma_load" || (node.native == "load" && node.result.tile()) || (node.native == "gather" && node.result.tile());
}

std::vector<std::pair<std::size_t, int>> readers_through_views(const DumpLoop& loop, std::size_t node) {
  std::vector<std::pair<std::size_t, int>> readers, open{{node, 0}};
  std::set<std::size_t> seen{node};
  while (!open.empty()) {
    const auto [at, base] = open.back();
    open.pop_back();
    for (const DumpEdge& e : loop.edges) {
      if (e.from != at || !seen.insert(e.to).second) continue;
      if (loop.nodes[e.to].view)
        open.emplace_back(e.to, base + e.distance);
      else
        readers.emplace_back(e.to, base + e.distance);
    }
  }
  std::sort(readers.begin(), readers.end());
  return readers;
}

Kernel to_kernel(const Dump& dump, const DumpLoop& loop, DumpReading reading) {
  return reading == DumpReading::Full ? KernelBuilder(dump, without_views(loop), reading).run() : KernelBuilder(dump, loop, reading).run();
}

bool has_ops_of(const DumpLoop& loop, const Problem& problem) {
  std::size_t found = 0, hidden = 0;
  const std::vector<bool> views = storage_views(loop);
  for (std::size_t i = 0; i < loop.nodes.size(); ++i) {
    if (problem.find_op(loop.nodes[i].name).valid())
      ++found;
    else if (views[i])
      ++hidden;
  }
  return found == problem.ops.size() && (found == loop.nodes.size() || found + hidden == loop.nodes.size());
}

Machine to_machine(const Dump& dump, const DumpLoop& loop, DumpReading reading) {
  Machine machine;
  machine.name = fmt::format("dump_{}", reading == DumpReading::Full ? "full" : "issue_slots");
  machine.about = reading == DumpReading::Full ? "units held for their occupancy, hand-offs and credits between warp groups"
                                               : "units reserved for issue slots, as the compiler's modulo scheduler does";
  machine.file = dump.file + ", as a machine";
  std::set<std::string> used;
  std::map<std::string, std::int64_t> most;  // of a reservation table
  for (const DumpNode& n : loop.nodes) {
    if (!n.unit.empty()) used.insert(n.unit);
    if (n.super && n.latency > 0) used.insert(kInnerLoop);
    for (const UnitTime& use : n.table) {
      used.insert(use.unit);
      most[use.unit] = std::max(most[use.unit], use.amount);
    }
  }
  const auto add = [&](const std::string& name, UnitRole role, const char* about) {
    machine.units.push_back({name, role, std::max<std::int64_t>(1, most[name]), about, "the dump"});
  };
  for (const KnownUnit& known : kUnits)
    if (used.erase(known.name)) add(known.name, known.role, known.about);
  for (const std::string& name : used) add(name, UnitRole::Other, "");
  const bool full = reading == DumpReading::Full;
  Limits& limits = machine.limits;
  limits.smem_bytes = dump.smem_budget;
  limits.tmem_columns = dump.tmem_budget / 512;
  limits.registers_per_sm = 65536;
  limits.registers_per_thread = 255;
  limits.register_granule = 8;
  limits.producer_registers = 24;
  limits.warps_per_cta = full ? 32 : 1024;
  machine.handoff.register_copy = full ? *Expr::parse(fmt::format("{} + bytes / {}", kCrossRegister, kCrossBytesPerCycle)) : Expr(0);
  machine.handoff.signal = Expr(full ? kCrossBarrier : 0);
  machine.handoff.source = "the compiler's partition cost model";
  return machine;
}

namespace {

UserConstraint ii_between(std::string name, Cycle low, Cycle high) {
  UserConstraint rule;
  rule.name = std::move(name);
  rule.kind = ConstraintKind::IIRange;
  rule.low = low;
  rule.high = high;
  return rule;
}

/// joint-solver-0.1: the range of II, and its budget of shared memory, for which it counts the stages of direct readers.
Constraints cycle_rules(const Dump& dump, const DumpLoop& loop, const Problem& problem) {
  Constraints rules;
  if (loop.min_ii && loop.max_ii) rules.push_back(ii_between("min_ii and max_ii of the problem", *loop.min_ii, *loop.max_ii));
  UserConstraint memory;
  memory.name = "smem_budget of the problem";
  memory.kind = ConstraintKind::MaxStageSmem;
  memory.high = dump.smem_budget;
  const auto known = [&](std::size_t node) { return problem.find_op(loop.nodes[node].name).valid(); };
  for (const Ring& ring : loop.rings) {
    if (ring.space == TileType::Space::Tmem || !known(ring.writer)) continue;
    StageRing& counted = memory.rings.emplace_back(StageRing{loop.nodes[ring.writer].name, {}, ring.bytes});
    for (const std::size_t reader : ring.readers)
      if (known(reader)) counted.readers.push_back(loop.nodes[reader].name);
  }
  if (!memory.rings.empty()) rules.push_back(std::move(memory));
  return rules;
}

/// joint-solver-0.2: what is handed over between groups takes its bytes once, beside what is taken anyway. Where cycles may move,
/// rings have at least their least slots; how many more they need is seen from the schedule (core/dump/export_joint.cpp).
UserConstraint crossing_budget(const Dump& dump, const DumpLoop& loop, const Problem& problem,
                               const std::map<std::size_t, std::int64_t>& cluster_of) {
  UserConstraint memory;
  memory.name = "smem_budget of the problem";
  memory.kind = ConstraintKind::MaxCrossingSmem;
  memory.low = loop.joint.smem;
  memory.high = dump.smem_budget;
  if (loop.joint.moves)
    for (const Ring& ring : loop.rings)
      if (ring.space != TileType::Space::Tmem) memory.low = sat_add(memory.low, sat_mul(ring.bytes, ring.least));
  std::set<std::tuple<std::size_t, std::size_t, std::int64_t>> seen;
  const auto known = [&](std::size_t node) { return cluster_of.contains(node) && problem.find_op(loop.nodes[node].name).valid(); };
  for (const DumpEdge& e : loop.edges)
    if (e.bytes > 0 && known(e.from) && known(e.to) && cluster_of.at(e.from) != cluster_of.at(e.to) &&
        seen.insert({e.from, e.to, e.result}).second)
      memory.rings.push_back({loop.nodes[e.from].name, {loop.nodes[e.to].name}, e.bytes});
  return memory;
}

}  // namespace

Constraints problem_rules(const Dump& dump, const DumpLoop& loop, const Problem& problem) {
  Constraints rules;
  if (dump.format == Format::JointCycles) return cycle_rules(dump, loop, problem);
  if (dump.format != Format::JointGroups) return rules;
  if (loop.stated_ii) rules.push_back(ii_between("ii of the problem", *loop.stated_ii, *loop.stated_ii));
  const auto add = [&](std::string name, ConstraintKind kind, std::vector<std::size_t> nodes, std::int64_t low) {
    UserConstraint rule;
    rule.name = std::move(name);
    rule.kind = kind;
    for (const std::size_t node : nodes) {
      if (!problem.find_op(loop.nodes[node].name).valid()) return;
      rule.ops.push_back(loop.nodes[node].name);
    }
    rule.low = low;
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(std::move(rule));
  };
  std::map<std::int64_t, std::size_t> first;  // node of a cluster
  std::map<std::size_t, std::int64_t> cluster_of;
  for (const Cluster& c : loop.clusters) {
    if (c.nodes.empty()) continue;
    first[c.id] = c.nodes[0];
    for (const std::size_t node : c.nodes) cluster_of[node] = c.id;
    if (c.nodes.size() > 1) add(fmt::format("cluster {} stays whole", c.id), ConstraintKind::SameGroup, c.nodes, 0);
  }
  for (const auto& [a, b] : loop.conflicts)
    if (a != b && first.contains(a) && first.contains(b))
      add(fmt::format("clusters {} and {} apart", a, b), ConstraintKind::DifferentGroup, {first[a], first[b]}, 0);
  for (const DumpEdge& e : loop.edges) {
    if (!cluster_of.contains(e.from) || !cluster_of.contains(e.to) || cluster_of[e.from] == cluster_of[e.to]) continue;
    const DumpNode &from = loop.nodes[e.from], &to = loop.nodes[e.to];
    if (role_of(from.unit) == UnitRole::Tensor && (role_of(to.unit) == UnitRole::Float || role_of(to.unit) == UnitRole::Special))
      add(fmt::format("{} apart from {}", to.name, from.name), ConstraintKind::DifferentGroup, {e.from, e.to}, 0);
    if (e.distance > 0 && e.carrier == Carrier::Register)
      add(fmt::format("{} with {}", to.name, from.name), ConstraintKind::SameGroup, {e.from, e.to}, 0);
  }
  const Cycle ii = loop.stated_ii.value_or(0);
  for (std::size_t i = 0; i < loop.nodes.size(); ++i) {
    if (!loop.nodes[i].cycle) continue;
    const std::string& name = loop.nodes[i].name;
    if (loop.cycles_given) {
      add(fmt::format("{} as given", name), ConstraintKind::Pin, {i}, *loop.nodes[i].cycle);
    } else if (ii > 0 && problem.find_op(name).valid()) {
      const Cycle begin = *loop.nodes[i].cycle / ii * ii;
      rules.push_back({fmt::format("{} in its stage", name), true, ConstraintKind::Range, {name}, "", begin, begin + ii - 1, {}});
    }
  }
  rules.push_back(crossing_budget(dump, loop, problem, cluster_of));
  return rules;
}

std::int64_t registers_beside(const Dump& dump, const DumpLoop& loop) {
  const auto holds = [&](const DumpLoop& outer, const DumpLoop& inner) {
    std::set<std::int64_t> open{outer.id}, seen;
    while (!open.empty()) {
      const std::int64_t id = *open.begin();
      open.erase(open.begin());
      if (!seen.insert(id).second) continue;
      for (const DumpLoop& l : dump.loops)
        for (const DumpNode& n : l.nodes)
          if (l.id == id && n.super && n.inner_loop >= 0) open.insert(n.inner_loop);
    }
    return seen.contains(inner.id);
  };
  std::map<std::int64_t, int> warps;
  for (const DumpLoop& other : dump.loops)
    if (other.id != loop.id && (holds(other, loop) || holds(loop, other)))
      for (const DumpGroup& g : other.groups) warps[g.id] = std::max(warps[g.id], g.warps);
  for (const DumpGroup& g : loop.groups) warps.erase(g.id);
  std::int64_t sum = 0;
  for (const auto& [id, width] : warps) sum = sat_add(sum, width_registers(width));
  return sum;
}

Constraints emitter_rules(const DumpLoop& loop, const Problem& problem, std::int64_t registers_beside) {
  Constraints rules;
  for (const DumpEdge& e : loop.edges) {
    const DumpNode &from = loop.nodes[e.from], &to = loop.nodes[e.to];
    const UnitRole reader = role_of(to.unit);
    if (from.native != "mma" || (reader != UnitRole::Float && reader != UnitRole::Special)) continue;
    if (!problem.find_op(from.name).valid() || !problem.find_op(to.name).valid()) continue;
    UserConstraint rule;
    rule.name = fmt::format("emitter: {} apart from {}", to.name, from.name);
    rule.kind = ConstraintKind::DifferentGroup;
    rule.ops = {from.name, to.name};
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(std::move(rule));
  }
  for (const DumpNode& n : loop.nodes)
    if (n.super && problem.find_op(n.name).valid()) {
      UserConstraint& rule = rules.emplace_back();
      rule.name = fmt::format("emitter: the group of {} hands nothing to others", n.name);
      rule.kind = ConstraintKind::ClosedGroup;
      rule.ops = {n.name};
    }
  rules.push_back({"emitter: iterations one by one", true, ConstraintKind::OneByOne, {}, "", 0, 0, {}});
  rules.push_back({"emitter: registers by the width of groups",
                   true,
                   ConstraintKind::MaxWidthRegisters,
                   {},
                   "",
                   0,
                   std::max<std::int64_t>(0, problem.limits.registers_per_sm - registers_beside),
                   {}});
  return rules;
}

std::vector<std::int64_t> groups_of_nodes(const DumpLoop& loop) {
  std::vector<std::int64_t> groups;
  for (const DumpNode& n : loop.nodes) groups.push_back(n.group);
  // A joint-solver problem has no groups yet: every cluster counts as one.
  for (std::size_t c = 0; c < loop.clusters.size() && !loop.grouped(); ++c)
    for (const std::size_t node : loop.clusters[c].nodes) groups[node] = static_cast<std::int64_t>(c);
  bool changed = true;
  for (const bool forward : {true, false})
    for (changed = true; changed;) {
      changed = false;
      for (const DumpEdge& e : loop.edges) {
        const std::size_t open = forward ? e.from : e.to, known = forward ? e.to : e.from;
        if (groups[open] >= 0 || groups[known] < 0 || (!forward && !loop.scheduled())) continue;
        groups[open] = groups[known];
        changed = true;
      }
    }
  return groups;
}

namespace {

/// Slots of the ring that `node` fills, as stored; 0 unknown.
std::int64_t stored_depth(const DumpLoop& loop, std::size_t node) {
  const auto it =
      std::find_if(loop.buffers.begin(), loop.buffers.end(), [&](const DumpBuffer& b) { return b.id == loop.nodes[node].produces; });
  if (loop.nodes[node].produces >= 0 && it != loop.buffers.end() && it->kind != "barrier") return it->count;
  for (const DumpBarrier& b : loop.barriers)
    if (b.producer == node) return b.depth;
  return 0;
}

}  // namespace

std::optional<Schedule> to_schedule(const Dump& dump, const DumpLoop& whole, const Problem& problem) {
  if (!whole.scheduled() || !has_ops_of(whole, problem)) return std::nullopt;
  const DumpLoop loop = problem.ops.size() < whole.nodes.size() ? without_views(whole) : whole;
  Schedule schedule;
  schedule.name = fmt::format("{} {}", dump.kernel, dump.variants ? fmt::format("variant {}", dump.variant) : "stored");
  schedule.kernel = problem.kernel;
  schedule.machine = problem.machine;
  schedule.params = problem.params;
  schedule.layouts = choices_of(problem);
  schedule.ii = *loop.stated_ii;
  schedule.provenance = {"imported", dump.algorithm.empty() ? "compiler" : "compiler, " + dump.algorithm,
                         fmt::format("{}, loop {}", to_string(dump.format), loop.id)};
  std::vector<std::int64_t> groups = groups_of_nodes(loop);
  std::map<std::int64_t, std::size_t> dense;
  for (std::int64_t& g : groups) {
    g = std::max<std::int64_t>(g, 0);
    dense.emplace(g, 0);
  }
  std::size_t next = 0;
  for (auto& [id, index] : dense) index = next++;
  schedule.groups.resize(dense.size());
  schedule.ops.resize(problem.ops.size());
  std::vector<std::size_t> node_of(problem.ops.size(), 0);
  for (std::size_t i = 0; i < loop.nodes.size(); ++i) {
    const OpId op = problem.find_op(loop.nodes[i].name);
    if (!op.valid()) continue;
    node_of[op.index()] = i;
    schedule.ops[op.index()] = {*loop.nodes[i].cycle, GroupId(dense.at(groups[i]))};
  }
  derive_groups(problem, schedule, UnusedGroups::Keep);
  if (loop.grouped())
    for (const auto& [id, index] : dense) schedule.groups[index].role = fmt::format("wg{}", id);
  schedule.depths.assign(problem.channels.size(), 0);
  const std::vector<int> least = minimal_depths(problem, schedule);
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    if (!channel_exists(problem.channels[c], schedule)) continue;
    const std::int64_t depth = stored_depth(loop, node_of[problem.channels[c].writer.index()]);
    schedule.depths[c] = depth > 0 ? static_cast<int>(depth) : least[c];
  }
  return schedule;
}

}  // namespace heddle::dump
