// Family user: the demands of core/schedule/constraints.h, each told by its name.
#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/channels.h"
#include "core/analysis/registers.h"
#include "core/base/saturate.h"
#include "core/check/families.h"

namespace heddle {
namespace {

struct Demand {
  const Case& c;
  const UserConstraint& constraint;
  std::vector<OpId> ops;

  void object(std::string message, std::vector<OpId> who = {}, std::int64_t amount = 0, std::int64_t limit = 0) const {
    const std::string name = constraint.name.empty() ? to_string(constraint.kind) : constraint.name;
    const Cycle slot = who.size() == 1 ? c.schedule.slot(who.front()) : -1;
    c.found.push_back({"user", fmt::format("{}: {}", name, message), std::move(who), slot, amount, limit});
  }

  std::int64_t group(OpId op) const { return static_cast<std::int64_t>(c.schedule.group(op).index()); }
  Cycle stage(OpId op) const { return c.schedule.start(op) / c.schedule.ii; }

  void at_most(const char* what, std::int64_t found) const {
    if (found > constraint.high)
      object(fmt::format("{} {}, at most {} demanded", found, what, constraint.high), {}, found, constraint.high);
  }

  void judge_each_op() const {
    const auto [low, high] = std::pair(constraint.low, constraint.high);
    for (OpId op : ops) {
      const Cycle start = c.schedule.start(op);
      if (constraint.kind == ConstraintKind::Pin && start != low)
        object(fmt::format("{} starts at {} instead of {}", c.name(op), start, low), {op}, start, low);
      if (constraint.kind == ConstraintKind::Range && (start < low || start > high))
        object(fmt::format("{} starts at {}, outside {} to {}", c.name(op), start, low, high), {op}, start, start < low ? low : high);
      if (constraint.kind == ConstraintKind::InGroup && group(op) != low)
        object(fmt::format("{} is in group {} instead of {}", c.name(op), group(op), low), {op}, group(op), low);
      if (constraint.kind == ConstraintKind::NotInGroup && group(op) == low)
        object(fmt::format("{} is in group {}", c.name(op), low), {op}, group(op), low);
    }
  }

  void judge_pairs() const {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      for (std::size_t j = i + 1; j < ops.size(); ++j) {
        const OpId a = ops[i], b = ops[j];
        if (constraint.kind == ConstraintKind::DifferentGroup && group(a) == group(b))
          object(fmt::format("{} and {} are both in group {}", c.name(a), c.name(b), group(a)), {a, b}, group(a), group(b));
        // For sameness, comparing with the first op says it all.
        if (i > 0) continue;
        if (constraint.kind == ConstraintKind::SameGroup && group(a) != group(b))
          object(fmt::format("{} is in group {}, {} in group {}", c.name(a), group(a), c.name(b), group(b)), {a, b}, group(b), group(a));
        if (constraint.kind == ConstraintKind::SameStage && stage(a) != stage(b))
          object(fmt::format("{} is in stage {}, {} in stage {}", c.name(a), stage(a), c.name(b), stage(b)), {a, b}, stage(b), stage(a));
      }
    }
  }

  void judge_before() const {
    if (ops.size() != 2) return object("an order needs exactly two ops");
    const Cycle first = c.schedule.start(ops[0]), second = c.schedule.start(ops[1]);
    if (second - first < constraint.low)
      object(
          fmt::format("{} starts {} cycles after {}, at least {} demanded", c.name(ops[1]), second - first, c.name(ops[0]), constraint.low),
          ops, second - first, constraint.low);
  }

  void judge_earlier_stage() const {
    if (ops.size() != 2) return object("an order of stages needs exactly two ops");
    const Cycle first = stage(ops[0]), second = stage(ops[1]);
    if (second - first < constraint.low)
      object(fmt::format("{} is in stage {}, {} in stage {}: {} stages apart, at least {} demanded", c.name(ops[0]), first, c.name(ops[1]),
                         second, second - first, constraint.low),
             ops, second - first, constraint.low);
  }

  void judge_one_by_one() const {
    const Problem& p = c.problem;
    for (std::size_t g = 0; g < c.schedule.groups.size(); ++g) {
      OpId first, last;
      const auto issued = [&](OpId op) { return c.schedule.start(op) + p.op(op).window; };
      for (std::size_t v = 0; v < p.ops.size(); ++v) {
        const OpId op{v};
        if (c.schedule.group(op).index() != g || p.op(op).window == 0) continue;
        if (!first.valid() || c.schedule.start(op) < c.schedule.start(first)) first = op;
        if (!last.valid() || issued(op) > issued(last)) last = op;
      }
      if (first.valid() && first != last && issued(last) > c.schedule.start(first) + c.schedule.ii)
        object(fmt::format("{} begins the next iteration with {} at {}, before it has issued {} at {}", c.group_name(GroupId(g)),
                           c.name(first), c.schedule.start(first) + c.schedule.ii, c.name(last), issued(last)),
               {first, last}, issued(last) - c.schedule.start(first), c.schedule.ii);
    }
  }

  void judge_ii() const {
    const Cycle ii = c.schedule.ii;
    if (ii < constraint.low) object(fmt::format("II {}, at least {} demanded", ii, constraint.low), {}, ii, constraint.low);
    if (constraint.high > 0 && ii > constraint.high)
      object(fmt::format("II {}, at most {} demanded", ii, constraint.high), {}, ii, constraint.high);
  }

  void judge_closed_group() const {
    const std::int64_t closed = group(ops[0]);
    for (const Edge& e : c.problem.edges) {
      if (!e.value.valid() && e.handoff == 0) continue;
      if (group(e.from) != group(e.to) && (group(e.from) == closed || group(e.to) == closed))
        object(fmt::format("{} in group {} hands over to {} in group {}", c.name(e.from), group(e.from), c.name(e.to), group(e.to)),
               {e.from, e.to}, group(e.from), group(e.to));
    }
  }

  /// Counted from the first op.
  void judge_stage_smem() const {
    const Schedule& s = c.schedule;
    const auto first =
        std::min_element(s.ops.begin(), s.ops.end(), [](const Placement& a, const Placement& b) { return a.start < b.start; });
    if (first != s.ops.end() && first->start != 0)
      object(fmt::format("the first op starts at {} instead of 0, from where its stages are counted", first->start),
             {OpId(static_cast<std::size_t>(first - s.ops.begin()))});
    std::int64_t bytes = 0;
    for (const StageRing& ring : constraint.rings) {
      const OpId writer = c.problem.find_op(ring.writer);
      if (!writer.valid()) return object(fmt::format("there is no op named '{}'", ring.writer));
      Cycle last = stage(writer);
      for (const std::string& name : ring.readers) {
        const OpId reader = c.problem.find_op(name);
        if (!reader.valid()) return object(fmt::format("there is no op named '{}'", name));
        last = std::max(last, stage(reader));
      }
      bytes = sat_add(bytes, sat_mul(ring.bytes, last - stage(writer) + 1));
    }
    at_most("bytes of shared memory by stages", bytes);
  }

  void judge_crossing_smem() const {
    std::int64_t bytes = constraint.low;
    for (const StageRing& ring : constraint.rings) {
      const OpId writer = c.problem.find_op(ring.writer);
      if (!writer.valid()) return object(fmt::format("there is no op named '{}'", ring.writer));
      bool crosses = false;
      for (const std::string& name : ring.readers) {
        const OpId reader = c.problem.find_op(name);
        if (!reader.valid()) return object(fmt::format("there is no op named '{}'", name));
        crosses |= c.schedule.group(reader) != c.schedule.group(writer);
      }
      if (crosses) bytes = sat_add(bytes, ring.bytes);
    }
    at_most("bytes of shared memory between groups", bytes);
  }

  void judge_limits() const {
    const Problem& p = c.problem;
    const Schedule& s = c.schedule;
    switch (constraint.kind) {
      case ConstraintKind::MaxStages: {
        Cycle stages = 0;
        for (const Placement& place : s.ops) stages = std::max(stages, place.start / s.ii + 1);
        return at_most("stages", stages);
      }
      case ConstraintKind::MaxWarps: {
        std::int64_t warps = 0;
        for (const ScheduleGroup& g : s.groups) warps += g.warps;
        return at_most("warps", warps);
      }
      case ConstraintKind::MaxGroups: return at_most("warp groups", groups_in_use(s));
      case ConstraintKind::MaxRegisters: {
        const auto uses = register_use(p, s);
        for (std::size_t g = 0; g < uses.size(); ++g)
          at_most(fmt::format("registers per thread in {}", c.group_name(GroupId(g))).c_str(), budget_of_group(p, s, g, uses[g].peak));
        return;
      }
      case ConstraintKind::MaxSmem: return at_most("bytes of shared memory", allocated(p, s, Space::Smem));
      case ConstraintKind::MaxTmem: return at_most("tensor memory columns", rounded_columns(allocated(p, s, Space::Tmem)));
      case ConstraintKind::MaxDepth: {
        const auto channel =
            std::find_if(p.channels.begin(), p.channels.end(), [&](const Channel& ch) { return ch.name == constraint.channel; });
        if (channel == p.channels.end()) return object(fmt::format("there is no channel named '{}'", constraint.channel));
        return at_most(fmt::format("slots in channel {}", channel->name).c_str(),
                       s.depths[static_cast<std::size_t>(channel - p.channels.begin())]);
      }
      case ConstraintKind::MaxWidthRegisters: {
        std::int64_t registers = 0;
        for (const ScheduleGroup& g : s.groups) registers += width_registers(g.warps);
        return at_most("registers by the width of groups", registers);
      }
      case ConstraintKind::MaxStageSmem: return judge_stage_smem();
      case ConstraintKind::MaxCrossingSmem: return judge_crossing_smem();
      default: return;
    }
  }
};

}  // namespace

void check_user(const Case& c, const Constraints& constraints) {
  for (const UserConstraint& constraint : constraints) {
    if (!constraint.enabled) continue;
    Demand demand{c, constraint, {}};
    for (const std::string& name : constraint.ops) {
      const OpId op = c.problem.find_op(name);
      if (op.valid())
        demand.ops.push_back(op);
      else
        demand.object(fmt::format("there is no op named '{}'", name));
    }
    if (demand.ops.size() != constraint.ops.size()) continue;
    demand.judge_each_op();
    demand.judge_pairs();
    if (constraint.kind == ConstraintKind::Before) demand.judge_before();
    if (constraint.kind == ConstraintKind::EarlierStage) demand.judge_earlier_stage();
    if (constraint.kind == ConstraintKind::OneByOne) demand.judge_one_by_one();
    if (constraint.kind == ConstraintKind::IIRange) demand.judge_ii();
    if (constraint.kind == ConstraintKind::ClosedGroup && !demand.ops.empty()) demand.judge_closed_group();
    demand.judge_limits();
  }
}

}  // namespace heddle
