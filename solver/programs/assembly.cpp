#include "solver/programs/assembly.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/analysis/registers.h"
#include "core/analysis/turns.h"
#include "core/base/assert.h"
#include "core/motion/circle.h"

namespace heddle::programs {

Assembly::Assembly(const Problem& problem, const Schedule& groups, const Rules& rules)
    : problem_(problem), groups_(groups), depths_(ring_depths(problem, groups, rules.constraints)) {
  std::vector<bool> used(groups.groups.size(), false);
  for (const Placement& place : groups.ops) used[place.group.index()] = true;
  const bool has_producer = problem.has_producer_group();
  for (std::size_t g = has_producer ? 1 : 0; g < used.size(); ++g) {
    if (!used[g]) continue;
    consumers_.push_back(GroupId(g));
    rules_.emplace_back(problem, groups, GroupId(g), depths_.deepest, rules);
  }
  takes_turns_ = contested_turns(problem, groups).size() == 1;
  if (!has_producer) return;
  seed_producer_ = motion::program_of(problem, groups).streams.front();
  producer_follows_ = std::none_of(problem.edges.begin(), problem.edges.end(), [&](const Edge& e) {
    return e.from != e.to && groups.group(e.from).index() == 0 && groups.group(e.to).index() == 0;
  });
}

std::size_t Assembly::place_of(GroupId group) const {
  return static_cast<std::size_t>(std::find(consumers_.begin(), consumers_.end(), group) - consumers_.begin());
}

namespace {

/// The same circle from where the group takes its first turn: what comes before belongs to the iteration before.
Order from_first_turn(Order order, const std::vector<OpId>& turns) {
  const auto in_order = [&](OpId op) {
    return std::find_if(order.begin(), order.end(), [&](const timing::StreamStep& step) { return step.op == op; });
  };
  const auto first = std::find_if(turns.begin(), turns.end(), [&](OpId op) { return in_order(op) != order.end(); });
  if (first == turns.end()) return order;
  const auto begin = in_order(*first);
  for (auto step = order.begin(); step != begin; ++step) --step->stage;
  const bool early = std::any_of(order.begin(), order.end(), [](const timing::StreamStep& step) { return step.stage < 0; });
  for (timing::StreamStep& step : order) step.stage += early;
  std::rotate(order.begin(), begin, order.end());
  return order;
}

}  // namespace

ProgramPart Assembly::part(std::size_t consumer, const Order& order, const Runs& runs) const {
  const GroupRules& rules = rules_[consumer];
  std::vector<OpId> products;
  for (const timing::StreamStep& step : order)
    for (const std::size_t p : rules.products())
      if (rules.ops()[p] == step.op) products.push_back(step.op);
  ProgramPart part;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const std::size_t begin = runs[r], next = runs[(r + 1) % runs.size()];
    const std::size_t length = r + 1 < runs.size() ? next - begin : next + products.size() - begin;
    std::vector<OpId>& turn = part.turns.emplace_back();
    for (std::size_t i = 0; i < length; ++i) turn.push_back(products[(begin + i) % products.size()]);
  }
  part.order = part.turns.empty() ? order : from_first_turn(order, part.turns.front());
  part.waits = rules.register_waits(part.order);
  return part;
}

Order Assembly::producer(const Parts& parts) const {
  if (!producer_follows_) return seed_producer_;
  struct Need {
    int stage = std::numeric_limits<int>::max();
    std::size_t group = 0, place = 0;
  };
  std::vector<Need> needs(problem_.ops.size());
  for (const Edge& e : problem_.edges) {
    const std::size_t k = place_of(groups_.group(e.to));
    if (groups_.group(e.from).index() != 0 || k == parts.size()) continue;
    const Order& order = parts[k]->order;
    const auto reader = std::find_if(order.begin(), order.end(), [&](const timing::StreamStep& step) { return step.op == e.to; });
    const Need need{reader->stage + e.distance, k, static_cast<std::size_t>(reader - order.begin())};
    Need& known = needs[e.from.index()];
    if (std::tie(need.stage, need.group, need.place) < std::tie(known.stage, known.group, known.place)) known = need;
  }
  Order order = seed_producer_;
  for (timing::StreamStep& step : order) {
    const int stage = needs[step.op.index()].stage;
    step.stage = stage == std::numeric_limits<int>::max() ? 0 : stage;
  }
  std::stable_sort(order.begin(), order.end(), [&](const timing::StreamStep& a, const timing::StreamStep& b) {
    const Need &x = needs[a.op.index()], &y = needs[b.op.index()];
    return std::pair(x.group, x.place) < std::pair(y.group, y.place);
  });
  return order;
}

timing::LoopProgram Assembly::program(const Parts& parts, const std::vector<int>& depths) const {
  std::size_t count = 0;
  for (const ProgramPart* part : parts) count = std::max(count, part->turns.size());
  std::vector<OpId> turns;
  for (std::size_t r = 0; r < count; ++r)
    for (const ProgramPart* part : parts) {
      if (part->turns.empty()) continue;
      HEDDLE_ASSERT(part->turns.size() == count, "all groups take as many turns");
      turns.insert(turns.end(), part->turns[r].begin(), part->turns[r].end());
    }
  return assembled(parts, std::move(turns), depths);
}

timing::LoopProgram Assembly::program(const std::vector<Order>& orders, std::vector<OpId> turns, const std::vector<int>& depths) const {
  std::vector<ProgramPart> made(orders.size());
  Parts parts;
  for (std::size_t k = 0; k < orders.size(); ++k) {
    made[k].order = from_first_turn(orders[k], turns);
    made[k].waits = rules_[k].register_waits(made[k].order);
    parts.push_back(&made[k]);
  }
  return assembled(parts, std::move(turns), depths);
}

timing::LoopProgram Assembly::assembled(const Parts& parts, std::vector<OpId> turns, const std::vector<int>& depths) const {
  timing::LoopProgram program;
  program.depths = depths;
  program.streams.resize(groups_.groups.size());
  if (!seed_producer_.empty()) program.streams.front() = producer(parts);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    program.streams[consumers_[k].index()] = parts[k]->order;
    program.waits.insert(program.waits.end(), parts[k]->waits.begin(), parts[k]->waits.end());
  }
  if (!turns.empty()) program.turns.push_back(std::move(turns));
  return program;
}

bool Assembly::registers_fit(const std::vector<std::int64_t>& uses) const {
  const Limits& limits = problem_.limits;
  std::int64_t sum = 0;
  if (!seed_producer_.empty())
    sum += register_budget(limits, limits.producer_registers) * groups_.groups.front().warps * limits.threads_per_warp;
  for (std::size_t k = 0; k < uses.size(); ++k) sum += rules_[k].budget(uses[k]) * rules_[k].threads();
  return sum <= limits.registers_per_sm;
}

}  // namespace heddle::programs
