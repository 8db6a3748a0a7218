// Enumerating and looking up.
#include "core/problem/numbers.h"

#include <algorithm>
#include <set>

#include "core/machine/limit_fields.h"

namespace heddle {
namespace {

constexpr const char* kCounted[] = {"register_granule", "threads_per_warp", "named_barriers"};

Change cost(ChangeKind kind, const std::string& op, const std::string& rule, std::string unit = {}) {
  Change change;
  change.kind = kind;
  change.op = op;
  change.rule = rule;
  change.unit = std::move(unit);
  return change;
}

void add_uses(Changes& numbers, const std::string& op, const std::string& rule, const std::vector<UnitCost>& uses) {
  std::set<std::string> seen;
  for (const UnitCost& use : uses) {
    if (!seen.insert(use.unit).second) continue;
    numbers.push_back(cost(ChangeKind::Duration, op, rule, use.unit));
    numbers.push_back(cost(ChangeKind::Amount, op, rule, use.unit));
  }
}

}  // namespace

Changes numbers_of(const Kernel& kernel, const Machine& machine, const Problem& problem) {
  Changes numbers;
  std::set<std::string> rules, units;
  for (const Op& op : problem.ops) {
    rules.insert(op.rule);
    for (const UnitUse& use : op.uses) units.insert(problem.unit(use.unit).name);
  }
  for (const CostRule& rule : machine.rules) {
    if (!rules.contains(rule.kind)) continue;
    numbers.push_back(cost(ChangeKind::Latency, "", rule.kind));
    numbers.push_back(cost(ChangeKind::Window, "", rule.kind));
    add_uses(numbers, "", rule.kind, rule.uses);
  }
  for (const TileOp& op : kernel.body) {
    if (!op.cost) continue;
    if (op.cost->latency) numbers.push_back(cost(ChangeKind::Latency, op.name, ""));
    if (op.cost->window) numbers.push_back(cost(ChangeKind::Window, op.name, ""));
    if (op.cost->uses) add_uses(numbers, op.name, "", *op.cost->uses);
  }
  for (const Unit& unit : machine.units)
    if (units.contains(unit.name)) numbers.push_back(cost(ChangeKind::Capacity, "", "", unit.name));
  for (const LimitField& limit : limit_fields()) {
    if (std::find(std::begin(kCounted), std::end(kCounted), std::string_view(limit.name)) != std::end(kCounted)) continue;
    Change change = cost(ChangeKind::Limit, "", "");
    change.field = limit.name;
    numbers.push_back(std::move(change));
  }
  for (const char* field : {"register_copy", "signal"}) {
    Change change = cost(ChangeKind::HandOff, "", "");
    change.field = field;
    numbers.push_back(std::move(change));
  }
  return numbers;
}

std::vector<std::int64_t> values_of(const Problem& problem, const Change& number) {
  std::set<std::int64_t> values;
  for (const Op& op : problem.ops) {
    if (number.op.empty() ? number.rule.empty() || op.rule != number.rule : op.name != number.op) continue;
    if (number.kind == ChangeKind::Latency) values.insert(op.latency);
    if (number.kind == ChangeKind::Window) values.insert(op.window);
    for (const UnitUse& use : op.uses) {
      if (problem.unit(use.unit).name != number.unit) continue;
      if (number.kind == ChangeKind::Duration) values.insert(use.duration);
      if (number.kind == ChangeKind::Amount) values.insert(use.amount);
    }
  }
  if (number.kind == ChangeKind::Capacity)
    for (const Unit& unit : problem.units)
      if (unit.name == number.unit) values.insert(unit.capacity);
  if (number.kind == ChangeKind::Limit)
    if (const LimitField* limit = find_limit(number.field)) values.insert(problem.limits.*limit->field);
  return {values.begin(), values.end()};
}

}  // namespace heddle
