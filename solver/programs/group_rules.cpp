// Stages are longest paths over dependences; a place in the circle counts as one unit of time, so that lives of values fold as they do
// modulo an II.
#include "solver/programs/group_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/registers.h"
#include "core/analysis/usage_curve.h"
#include "core/base/integer_division.h"
#include "core/problem/warp_work.h"

namespace heddle::programs {
namespace {

std::string refused(const UserConstraint& demand, const char* why) {
  return fmt::format("the demand '{}' {}", demand.name.empty() ? to_string(demand.kind) : demand.name, why);
}

}  // namespace

std::string refused_demand(const Problem& problem, const Schedule& groups, const Constraints& constraints) {
  for (const UserConstraint& demand : constraints) {
    if (!demand.enabled) continue;
    switch (demand.kind) {
      case ConstraintKind::Pin:
      case ConstraintKind::Range: return refused(demand, "names a cycle, and starts follow from the order of a program");
      case ConstraintKind::IIRange: return refused(demand, "is about II, which is no part of a program");
      case ConstraintKind::SameStage:
      case ConstraintKind::EarlierStage:
      case ConstraintKind::MaxStageSmem: return refused(demand, "counts whole IIs from the first start, which is no part of a program");
      case ConstraintKind::Before: {
        const OpId from = problem.find_op(demand.ops.empty() ? "" : demand.ops.front());
        const OpId to = problem.find_op(demand.ops.empty() ? "" : demand.ops.back());
        if (!from.valid() || !to.valid()) return refused(demand, "names an op that the kernel does not have");
        if (groups.group(from) != groups.group(to))
          return refused(demand, "orders two groups in cycles; a program orders ops of one group");
        if (demand.low < 0 || demand.low > problem.op(from).window)
          return refused(demand, "asks for a distance in cycles; a program says only what comes first");
        break;
      }
      default: break;
    }
  }
  return {};
}

GroupRules::GroupRules(const Problem& problem, const Schedule& groups, GroupId group, const std::vector<int>& depths, const Rules& rules)
    : problem_(problem), rules_(rules), stages_(rules.stages), local_(problem.ops.size(), kOutside) {
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (groups.ops[v].group == group) {
      local_[v] = ops_.size();
      if (warp_role(problem, OpId(v)) == WarpRole::Product) products_.push_back(ops_.size());
      ops_.push_back(OpId(v));
    }
  threads_ = groups.groups[group.index()].warps * problem.limits.threads_per_warp;
  most_registers_ = rules.registers.value_or(problem.limits.registers_per_thread);
  add_dependences(depths);
  add_demands();
  add_values(groups);
}

void GroupRules::add_dependences(const std::vector<int>& depths) {
  for (const Edge& e : problem_.edges)
    if (inside(e.from) && inside(e.to) && e.from != e.to) dependences_.push_back({local(e.from), local(e.to), e.distance});
  for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
    const Channel& channel = problem_.channels[c];
    if (channel.only_if_crossing || !inside(channel.writer)) continue;
    for (const Reader& r : channel.readers)
      if (inside(r.op) && r.op != channel.writer) dependences_.push_back({local(r.op), local(channel.writer), depths[c] - r.distance});
  }
}

void GroupRules::add_demands() {
  for (const UserConstraint& demand : rules_.constraints) {
    if (!demand.enabled) continue;
    if (demand.kind == ConstraintKind::OneByOne) one_by_one_ = true;
    if (demand.kind == ConstraintKind::MaxStages) stages_ = static_cast<int>(std::clamp<std::int64_t>(demand.high, 0, stages_));
    if (demand.kind == ConstraintKind::MaxRegisters) most_registers_ = std::min(most_registers_, demand.high);
    if (demand.kind != ConstraintKind::Before) continue;
    const OpId from = problem_.find_op(demand.ops.front()), to = problem_.find_op(demand.ops.back());
    if (inside(from)) dependences_.push_back({local(from), local(to), 0});
  }
}

void GroupRules::add_values(const Schedule& groups) {
  const auto foreign = foreign_registers(problem_, groups);
  for (const OpId op : ops_) besides_.push_back(foreign[op.index()] + problem_.resident_registers + problem_.limits.register_overhead);
  for (std::size_t x = 0; x < problem_.values.size(); ++x) {
    const Value& value = problem_.values[x];
    if (value.space != Space::Register || !value.producer.valid()) continue;
    Live live{0, value.registers, {}};
    for (const Edge& e : problem_.edges) {
      if (e.value != ValueId(x) || !inside(e.to)) continue;
      touches_registers_ = true;
      if (!inside(value.producer)) continue;
      live.reads.push_back({local(e.to), e.distance, e.hold > 0});
    }
    if (!inside(value.producer)) continue;
    touches_registers_ = true;
    live.writer = local(value.producer);
    lives_.push_back(std::move(live));
  }
  for (const Edge& e : problem_.edges)
    if (e.waits && inside(e.from) && inside(e.to) && e.from != e.to) product_waits_.push_back({local(e.from), local(e.to), e.distance});
}

bool GroupRules::raise_stages(const std::vector<int>& place, std::vector<int>& stage) const {
  for (bool moved = true; moved;) {
    moved = false;
    for (const Dependence& d : dependences_) {
      const int from = place[d.from], to = place[d.to];
      const bool behind = to == kNotPlaced || (from != kNotPlaced && to > from);
      const int need = stage[d.from] - d.distance + (behind ? 0 : 1);
      if (stage[d.to] >= need) continue;
      if (need >= stages_) return false;
      stage[d.to] = need;
      moved = true;
    }
  }
  return true;
}

std::optional<Order> GroupRules::order_of(const std::vector<std::size_t>& sequence, std::vector<int> least_stage) const {
  const int n = static_cast<int>(ops_.size());
  std::vector<int> place(ops_.size());
  for (int i = 0; i < n; ++i) place[sequence[static_cast<std::size_t>(i)]] = i;
  if (!raise_stages(place, least_stage)) return std::nullopt;
  if (one_by_one_) {
    int first = stages_ * n, last = 0;
    for (std::size_t v = 0; v < ops_.size(); ++v) {
      if (problem_.op(ops_[v]).window == 0) continue;
      first = std::min(first, least_stage[v] * n + place[v]);
      last = std::max(last, least_stage[v] * n + place[v]);
    }
    if (last - first >= n) return std::nullopt;
  }
  Order order;
  for (const std::size_t v : sequence) order.push_back({ops_[v], least_stage[v]});
  return order;
}

namespace {

/// Where every op of a group stands on the unrolled circle: stage * ops + place.
std::vector<std::int64_t> unrolled(const Order& order, const std::vector<std::size_t>& local) {
  std::vector<std::int64_t> at(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    at[local[order[i].op.index()]] = order[i].stage * static_cast<std::int64_t>(order.size()) + static_cast<std::int64_t>(i);
  return at;
}

/// The first place after `time` at which an op stands that stands at `at` once a circle of n.
std::int64_t next_after(std::int64_t time, std::int64_t at, std::int64_t n) { return at + (floor_div(time - at, n) + 1) * n; }

}  // namespace

std::int64_t GroupRules::read_until(std::size_t op, std::size_t writer, std::int64_t begun, const std::vector<std::int64_t>& at) const {
  const auto n = static_cast<std::int64_t>(at.size());
  std::int64_t until = next_after(begun, at[writer], n);
  for (const ProductWait& wait : product_waits_) {
    const std::int64_t next = wait.product == op ? begun : next_after(begun, at[wait.product], n);
    until = std::min(until, next + at[wait.waiting] + wait.distance * n - at[wait.product]);
  }
  return until;
}

std::int64_t GroupRules::registers(const Order& order) const {
  if (!touches_registers_) return problem_.limits.producer_registers;
  const auto n = static_cast<std::int64_t>(order.size());
  const std::vector<std::int64_t> at = unrolled(order, local_);
  std::vector<std::int64_t> use = besides_;
  for (const Live& live : lives_) {
    const std::int64_t begin = at[live.writer];
    std::int64_t end = begin + 1;
    for (const Read& read : live.reads) {
      const std::int64_t begun = at[read.op] + read.distance * n;
      end = std::max(end, read.held ? read_until(read.op, live.writer, begun, at) : begun);
    }
    for (std::size_t v = 0; v < use.size(); ++v) use[v] += live.registers * copies_alive(begin, end, at[v], n);
  }
  return *std::max_element(use.begin(), use.end());
}

bool GroupRules::registers_fit(std::int64_t use) const {
  return use <= most_registers_ && (rules_.registers || budget(use) <= problem_.limits.registers_per_thread);
}

std::int64_t GroupRules::budget(std::int64_t use) const { return register_budget(problem_.limits, use); }

std::vector<timing::AddedWait> GroupRules::register_waits(const Order& order) const {
  const auto n = static_cast<std::int64_t>(order.size());
  const std::vector<std::int64_t> at = unrolled(order, local_);
  std::vector<timing::AddedWait> waits;
  for (const Edge& e : problem_.edges) {
    if (e.hold <= 0 || !e.value.valid() || !inside(e.to)) continue;
    const OpId writer = problem_.value(e.value).producer;
    if (!inside(writer)) continue;
    const std::int64_t read = at[local(e.to)], next = next_after(read, at[local(writer)], n);
    waits.push_back({e.to, writer, e.hold, (next - at[local(writer)]) / n});
  }
  return waits;
}

}  // namespace heddle::programs
