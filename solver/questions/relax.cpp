#include "solver/questions/relax.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/base/saturate.h"
#include "core/formats/choices_json.h"
#include "solver/encoding/families.h"

namespace heddle::solver {
namespace {

/// The dependences of a long recurrence are many and alike: the longest ones tell enough.
constexpr std::size_t kMostEdges = 6;
constexpr int kLongRing = 32;
constexpr std::int64_t kSmemStep = 1024;
constexpr std::int64_t kWarpStep = 4;

class Easings {
 public:
  Easings(const Problem& problem, const Constraints& constraints) : problem_(problem), constraints_(constraints) {}

  void set_member(std::size_t member) { member_ = member; }

  void unit(UnitId id) {
    Easing e = start(fmt::format("capacity of {}", problem_.unit(id).name), problem_.unit(id).capacity, problem_.unit(id).capacity + 1);
    ++e.problem.units[id.index()].capacity;
    e.changes = {one_more_of(id)};
    add(std::move(e));
  }

  void group() {
    Easing e = start("warp groups", problem_.max_groups, problem_.max_groups + 1);
    ++e.problem.max_groups;
    e.changes = {one_more_group()};
    add(std::move(e));
  }

  void warps(std::int64_t step = kWarpStep) {
    Easing e = start("warps in the CTA", problem_.limits.warps_per_cta, problem_.limits.warps_per_cta + step);
    e.problem.limits.warps_per_cta += step;
    e.changes = {limit("warps_per_cta", e.problem.limits.warps_per_cta)};
    add(std::move(e));
  }

  void smem(std::int64_t step = kSmemStep) {
    const std::int64_t now = problem_.limits.smem_bytes;
    Easing e = start("bytes of shared memory", now, sat_add(now, step));
    e.problem.limits.smem_bytes = sat_add(now, step);
    deepen(e.problem, Space::Smem, now, e.problem.limits.smem_bytes);
    e.changes = {limit("smem_bytes", e.problem.limits.smem_bytes)};
    add(std::move(e));
  }

  void tmem(std::int64_t least = 0) {
    const std::int64_t now = allocatable_columns(problem_.limits.tmem_columns), next = std::max<std::int64_t>({32, 2 * now, least});
    Easing e = start("columns of tensor memory", now, next);
    e.problem.limits.tmem_columns = next;
    deepen(e.problem, Space::Tmem, now, next);
    e.changes = {limit("tmem_columns", next)};
    add(std::move(e));
  }

  void register_limit() {
    const Limits& l = problem_.limits;
    const std::int64_t granule = std::max<std::int64_t>(1, l.register_granule);
    const std::int64_t now = l.registers_per_thread / granule * granule;
    Easing step = start("registers per thread", now, now + granule);
    step.problem.limits.registers_per_thread = now + granule;
    step.changes = {limit("registers_per_thread", now + granule)};
    add(std::move(step));
    Easing none = start("registers per thread", fmt::format("{}", now), "no limit");
    // More than anything alive could take, and the register file with it.
    none.problem.limits.registers_per_thread = std::int64_t{1} << 16;
    none.problem.limits.registers_per_sm = std::int64_t{1} << 30;
    add(std::move(none));
  }

  void register_file(std::int64_t least = 0) {
    const Limits& l = problem_.limits;
    const std::int64_t step = std::max(least, std::max<std::int64_t>(1, l.register_granule) * l.threads_per_warp * kWarpStep);
    Easing e = start("registers of the SM", l.registers_per_sm, l.registers_per_sm + step);
    e.problem.limits.registers_per_sm += step;
    e.changes = {limit("registers_per_sm", e.problem.limits.registers_per_sm)};
    add(std::move(e));
  }

  /// One slot more than the ring can have: more memory where that is what limits it, else a longer ring.
  void ring_slot(ChannelId id) {
    const Channel& c = problem_.channel(id);
    if (kept_short_by_memory(problem_, c)) return c.space == Space::Tmem ? tmem() : smem(c.size);
    Easing e = start(fmt::format("slots of {}", c.name), c.max_depth, c.max_depth + 1);
    ++e.problem.channels[id.index()].max_depth;
    add(std::move(e));
  }

  /// What rings and memory cost altogether.
  void long_rings() {
    Easing e = start("rings and memory", "as they are", fmt::format("{} slots each", kLongRing));
    for (Channel& c : e.problem.channels) c.max_depth = std::max(c.max_depth, kLongRing);
    e.problem.limits.smem_bytes = e.problem.limits.tmem_columns = std::int64_t{1} << 50;
    add(std::move(e));
  }

  /// The longest latencies, and every distance, each with all edges of the same kind: two tiles of one kernel have the same
  /// costs twice, and easing only one of them buys nothing.
  void edges(std::vector<EdgeId> ids) {
    std::stable_sort(ids.begin(), ids.end(), [&](EdgeId a, EdgeId b) { return problem_.edge(a).latency > problem_.edge(b).latency; });
    for (std::size_t i = 0; i < std::min(ids.size(), kMostEdges); ++i) {
      const Edge& edge = problem_.edge(ids[i]);
      if (edge.latency > 0) alike("latency of", edge, edge.latency, 0, [](Problem&, Edge& e) { e.latency = 0; });
    }
    for (const EdgeId id : ids) {
      const Edge& edge = problem_.edge(id);
      if (edge.distance < 1) continue;
      alike("distance of", edge, edge.distance, edge.distance + 1, read_one_later);
      list_.back().keeps_schedules = false;
    }
  }

  void hand_offs(std::vector<EdgeId> ids) {
    Easing all = start("hand-offs between warp groups", "as they are", "all free");
    for (Edge& e : all.problem.edges) e.handoff = 0;
    add(std::move(all));
    std::stable_sort(ids.begin(), ids.end(), [&](EdgeId a, EdgeId b) { return problem_.edge(a).handoff > problem_.edge(b).handoff; });
    for (std::size_t i = 0; i < std::min(ids.size(), kMostEdges); ++i) {
      const Edge& edge = problem_.edge(ids[i]);
      alike("hand-off", edge, edge.handoff, 0, [](Problem&, Edge& e) { e.handoff = 0; });
    }
  }

  void user(std::size_t index, std::int64_t least = 0) {
    const UserConstraint& c = constraints_[index];
    const std::int64_t wider = std::max(wider_limit(c), least);
    if (wider > c.high) {
      Easing e = start(fmt::format("'{}'", c.name), c.high, wider);
      e.constraints[index].high = wider;
      e.constraint = index;
      e.limit = wider;
      add(std::move(e));
    }
    Easing gone = start(fmt::format("'{}'", c.name), "", kDropped);
    gone.constraints[index].enabled = false;
    gone.constraint = index;
    add(std::move(gone));
  }

  /// One step for each of several units and streams, where one alone would not do.
  void together(const std::vector<BoundFact>& facts) {
    Easing e = start("all of these", "", "one step each");
    for (const BoundFact& fact : facts) {
      if (fact.kind == BoundFact::Kind::Unit) {
        ++e.problem.units[fact.unit.index()].capacity;
        e.changes.push_back(one_more_of(fact.unit));
      } else if (fact.kind == BoundFact::Kind::Issue) {
        ++e.problem.max_groups;
        e.changes.push_back(one_more_group());
      } else {
        return;  // a cycle has several ways out
      }
    }
    add(std::move(e));
  }

  std::vector<Easing> take() { return std::move(list_); }

 private:
  Easing start(std::string what, std::string from, std::string to) {
    return {member_, std::move(what), std::move(from), std::move(to), problem_, constraints_};
  }

  // What `heddle solve --set` would have to be given.
  Change one_more_of(UnitId id) const {
    Change c;
    c.kind = ChangeKind::Capacity;
    c.unit = problem_.unit(id).name;
    c.value = problem_.unit(id).capacity + 1;
    return c;
  }
  Change one_more_group() const {
    Change c;
    c.kind = ChangeKind::Groups;
    c.value = problem_.max_groups + 1;
    return c;
  }
  static Change limit(const char* field, std::int64_t value) {
    Change c;
    c.kind = ChangeKind::Limit;
    c.field = field;
    c.value = value;
    return c;
  }
  Easing start(std::string what, std::int64_t from, std::int64_t to) {
    return start(std::move(what), fmt::format("{}", from), fmt::format("{}", to));
  }

  void add(Easing e) {
    const bool known = std::any_of(list_.begin(), list_.end(),
                                   [&](const Easing& old) { return old.what == e.what && old.from == e.from && old.to == e.to; });
    if (!known) list_.push_back(std::move(e));
  }

  bool same_kind(const Edge& a, const Edge& b) const {
    const auto key = [&](const Edge& e) {
      return std::tie(problem_.op(e.from).kind, problem_.op(e.to).kind, e.latency, e.distance, e.handoff);
    };
    return key(a) == key(b);
  }

  /// One change to an edge and to all that are of its kind.
  void alike(const char* what, const Edge& edge, std::int64_t from, std::int64_t to, auto&& change) {
    std::size_t others = 0;
    const Edge* first = nullptr;
    for (const Edge& e : problem_.edges) {
      if (!same_kind(e, edge)) continue;
      if (!first)
        first = &e;
      else
        ++others;
    }
    Easing easing = start(fmt::format("{} {} -> {}{}", what, problem_.op(first->from).name, problem_.op(first->to).name,
                                      others ? fmt::format(" and {} like it", others) : ""),
                          from, to);
    for (std::size_t i = 0; i < problem_.edges.size(); ++i)
      if (same_kind(problem_.edges[i], edge)) change(easing.problem, easing.problem.edges[i]);
    add(std::move(easing));
  }

  static void read_one_later(Problem& problem, Edge& edge) {
    for (Channel& c : problem.channels) {
      if (std::find(c.values.begin(), c.values.end(), edge.value) == c.values.end()) continue;
      for (Reader& r : c.readers)
        if (r.op == edge.to && r.distance == edge.distance) ++r.distance;
    }
    ++edge.distance;
  }

  /// Rings that `before` kept short may have what `now` gives (core/problem/storage.cpp limits them so).
  void deepen(Problem& problem, Space space, std::int64_t before, std::int64_t now) const {
    for (std::size_t i = 0; i < problem.channels.size(); ++i) {
      const Channel& old = problem_.channels[i];
      if (old.space != space || memory_with_slots(problem_, old, old.max_depth + 1) <= before) continue;
      while (problem.channels[i].max_depth < Channel{}.max_depth &&
             memory_with_slots(problem_, old, problem.channels[i].max_depth + 1) <= now)
        ++problem.channels[i].max_depth;
    }
  }

  /// One step up for caps; the same for what is no cap.
  std::int64_t wider_limit(const UserConstraint& c) const {
    switch (c.kind) {
      case ConstraintKind::MaxStages:
      case ConstraintKind::MaxGroups:
      case ConstraintKind::MaxDepth: return sat_add(c.high, 1);
      case ConstraintKind::MaxWarps: return sat_add(c.high, kWarpStep);
      case ConstraintKind::MaxSmem:
      case ConstraintKind::MaxStageSmem:
      case ConstraintKind::MaxCrossingSmem: return sat_add(c.high, kSmemStep);
      case ConstraintKind::MaxWidthRegisters: return sat_add(c.high, width_registers(kWarpStep));
      case ConstraintKind::MaxTmem: return std::max<std::int64_t>(32, sat_mul(2, allocatable_columns(c.high)));
      case ConstraintKind::MaxRegisters: {
        const std::int64_t granule = std::max<std::int64_t>(1, problem_.limits.register_granule);
        return (c.high / granule + 1) * granule;
      }
      default: return c.high;
    }
  }

  const Problem& problem_;
  const Constraints& constraints_;
  std::size_t member_ = 0;
  std::vector<Easing> list_;
};

}  // namespace

std::vector<Easing> easings_of(const Problem& problem, const Constraints& constraints, const Core& core) {
  Easings easings(problem, constraints);
  for (std::size_t i = 0; i < core.members.size(); ++i) {
    const CoreMember& member = core.members[i];
    easings.set_member(i);
    switch (member.family) {
      case ConstraintFamily::User: easings.user(member.index); break;
      case ConstraintFamily::Unit: easings.unit(UnitId(member.index)); break;
      case ConstraintFamily::Dependence: easings.edges(edges_of(member)); break;
      case ConstraintFamily::HandOff: easings.hand_offs(edges_of(member)); break;
      case ConstraintFamily::Credit:
        for (const ConstraintName& part : member.parts) easings.ring_slot(ChannelId(part.index));
        easings.long_rings();
        break;
      case ConstraintFamily::Smem: easings.smem(); break;
      case ConstraintFamily::Tmem: easings.tmem(); break;
      case ConstraintFamily::Issue:
      case ConstraintFamily::Blocking:
      case ConstraintFamily::Groups: easings.group(); break;
      case ConstraintFamily::Warps: easings.warps(); break;
      case ConstraintFamily::Registers:
        if (core.register_constraint)
          easings.user(*core.register_constraint);
        else
          easings.register_limit();
        break;
      case ConstraintFamily::RegisterFile: easings.register_file(); break;
    }
  }
  return easings.take();
}

std::vector<Easing> easings_of(const Problem& problem, const Constraints& constraints, const std::vector<Shortage>& shortages) {
  Easings easings(problem, constraints);
  for (std::size_t i = 0; i < shortages.size(); ++i) {
    const Shortage& s = shortages[i];
    easings.set_member(i);
    if (s.constraint) {
      easings.user(*s.constraint, s.needed);
      continue;
    }
    switch (s.kind) {
      case Shortage::Kind::Smem: easings.smem(s.needed - s.limit); break;
      case Shortage::Kind::Tmem: easings.tmem(s.needed); break;
      case Shortage::Kind::Registers: easings.register_limit(); break;
      case Shortage::Kind::RegisterFile: easings.register_file(s.needed - s.limit); break;
      case Shortage::Kind::Warps: easings.warps(s.needed - s.limit); break;
      case Shortage::Kind::Groups: easings.group(); break;
      case Shortage::Kind::Depth:
        for (const ChannelId channel : s.channels) easings.ring_slot(channel);
        break;
    }
  }
  return easings.take();
}

std::vector<Easing> easings_of(const Problem& problem, const Constraints& constraints, const std::vector<BoundFact>& facts) {
  Easings easings(problem, constraints);
  if (facts.size() > 1) easings.together(facts);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const BoundFact& fact = facts[i];
    easings.set_member(i);
    switch (fact.kind) {
      case BoundFact::Kind::Unit: easings.unit(fact.unit); break;
      case BoundFact::Kind::Refill:
        for (const ChannelId channel : fact.channels) easings.ring_slot(channel);
        easings.long_rings();
        easings.edges(fact.edges);
        break;
      case BoundFact::Kind::Recurrence: easings.edges(fact.edges); break;
      case BoundFact::Kind::Issue:
        if (fact.ops.size() > 1 && !problem.op(fact.ops[0]).variable_latency) easings.group();
        break;
    }
  }
  return easings.take();
}

std::vector<Easing> easings_of(const OpenLayouts& layouts, const Constraints& constraints, std::size_t member) {
  std::vector<Easing> easings;
  std::vector<std::vector<std::size_t>> given, better;
  std::string from, to;
  const auto add = [&](std::string what, std::string before, std::string after, const std::vector<std::vector<std::size_t>>& chosen) {
    Easing easing;
    easing.member = member;
    easing.what = std::move(what), easing.from = std::move(before), easing.to = std::move(after);
    easing.problem = easiest(layouts, chosen);
    easing.constraints = constraints;
    std::vector<std::size_t> combination;
    for (const auto& each : chosen) combination.push_back(each.front());
    easing.choices = choices_with(layouts, combination);
    easings.push_back(std::move(easing));
  };
  for (const LayoutDecision& decision : layouts.decisions) {
    given.push_back({0});
    const LayoutCandidate& now = decision.candidates.front();
    const bool holds_port = now.dominated_by && decision.candidates[*now.dominated_by].cost().port < now.cost().port;
    better.push_back({holds_port ? *now.dominated_by : 0});
  }
  std::size_t changed = 0;
  for (std::size_t d = 0; d < given.size(); ++d) {
    if (better[d] == given[d]) continue;
    ++changed;
    const LayoutDecision& decision = layouts.decisions[d];
    const std::string now = choices_text(decision.candidates.front().choices),
                      other = choices_text(decision.candidates[better[d].front()].choices);
    std::vector<std::vector<std::size_t>> one = given;
    one[d] = better[d];
    const int ways = decision.candidates.front().cost().ways;
    add(ways > 1 ? fmt::format("{}-way conflicts of {}", ways, decision.name()) : "layout of " + decision.name(), now, other, one);
    from += (from.empty() ? "" : ", ") + now, to += (to.empty() ? "" : ", ") + other;
  }
  if (changed > 1) add("all of these layouts", from, to, better);
  return easings;
}

}  // namespace heddle::solver
