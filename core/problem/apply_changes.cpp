// Each change is looked up once, then asked by everything it may touch.
#include "core/problem/apply_changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/suggest.h"
#include "core/machine/limit_fields.h"

namespace heddle {
namespace {

constexpr Range kCycles{0, kAbsurd};
constexpr Range kWarps{1, 1 << 20};
constexpr Range kGroups{1, 32};

std::string title(const Change& change) { return change.name.empty() ? describe(change) : change.name; }

/// On the command line there is no place; the change's name has to do.
Place place_of(const Change& change, const char* key) {
  return change.place.file.empty() ? change.place : Place{change.place.file, change.place.pointer + "/" + key};
}

const char* key_of(ChangeEffect effect) {
  return effect == ChangeEffect::To ? "to" : effect == ChangeEffect::Add ? "add" : "percent";
}

bool is_cost(ChangeKind kind) { return kind <= ChangeKind::Amount; }

bool gives_itself(const CostOverride* own, ChangeKind kind) {
  if (!own) return false;
  switch (kind) {
    case ChangeKind::Latency: return own->latency.has_value();
    case ChangeKind::Window: return own->window.has_value();
    case ChangeKind::Warps: return own->warps.has_value();
    default: return own->uses.has_value();
  }
}

}  // namespace

ChangedNumbers::ChangedNumbers(const Changes& changes, const Kernel& kernel, Machine& machine, FaultLog& faults)
    : faults_(faults) {
  for (const Change& change : changes)
    if (change.enabled) check_names(change, kernel, machine);
  for (const Change& change : changes_) edit_machine(change, machine);
}

void ChangedNumbers::check_names(const Change& c, const Kernel& kernel, const Machine& machine) {
  bool known = true;
  const auto expect = [&](const std::string& name, const std::vector<std::string>& names, const char* key,
                          const std::string& whose) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    std::string hint = did_you_mean(name, names);
    if (hint.empty()) hint = names.empty() ? "there is none" : "it has " + list_of(names);
    faults_.add(place_of(c, key), fmt::format("change '{}': {} has no {} '{}'", title(c), whose, key, name), std::move(hint));
    known = false;
  };
  const std::string on_machine = fmt::format("machine '{}'", machine.name);
  if (is_cost(c.kind)) {
    if (c.op.empty() == c.rule.empty()) {
      faults_.add(c.place, fmt::format("change '{}': exactly one of op and rule is needed", title(c)));
      known = false;
    } else if (!c.op.empty()) {
      expect(c.op, names_of(kernel.body), "op", fmt::format("the loop body of kernel '{}'", kernel.name));
    } else {
      std::vector<std::string> rules;
      for (const CostRule& rule : machine.rules) rules.push_back(rule.kind);
      expect(c.rule, rules, "rule", on_machine);
    }
  }
  if (c.kind == ChangeKind::Capacity || !c.unit.empty()) expect(c.unit, names_of(machine.units), "unit", on_machine);
  if (known && !c.unit.empty() && !c.rule.empty()) {
    std::vector<std::string> used;
    for (const UnitCost& use : machine.find_rule(c.rule)->uses) used.push_back(use.unit);
    expect(c.unit, used, "unit", fmt::format("rule '{}'", c.rule));
  }
  if (c.kind == ChangeKind::HandOff) expect(c.field, {"register_copy", "signal"}, "field", "a hand-off");
  if (c.kind == ChangeKind::Limit) {
    std::vector<std::string> limits;
    for (const LimitField& limit : limit_fields()) limits.emplace_back(limit.name);
    expect(c.field, limits, "field", "the list of limits");
  }
  if (known) changes_.push_back(c);
}

std::int64_t ChangedNumbers::number(const Change& change, std::int64_t old, Range range, const std::string& what) const {
  const std::int64_t value = changed(change, old);
  if (value >= range.low && value <= range.high) return value;
  faults_.add(place_of(change, key_of(change.effect)), fmt::format("change '{}': {} becomes {}, expected {} to {}",
                                                                   title(change), what, value, range.low, range.high));
  return old;
}

void ChangedNumbers::edit_machine(const Change& c, Machine& machine) const {
  if (c.kind == ChangeKind::Capacity)
    for (Unit& unit : machine.units)
      if (unit.name == c.unit) unit.capacity = number(c, unit.capacity, {1, kAbsurd}, "capacity of unit " + unit.name);
  if (c.kind == ChangeKind::Limit) {
    const LimitField& limit = *find_limit(c.field);
    std::int64_t& value = machine.limits.*limit.field;
    value = number(c, value, {limit.low, limit.high}, limit.name);
  }
}

void ChangedNumbers::apply(Op& op, const CostOverride* own, const std::vector<Unit>& units) const {
  for (const Change& c : changes_) {
    if (!is_cost(c.kind)) continue;
    if (c.op.empty() ? c.rule != op.rule || gives_itself(own, c.kind) : c.op != op.name) continue;
    const auto what = [&](const char* field) { return fmt::format("{} of op '{}'", field, op.name); };
    if (c.kind == ChangeKind::Latency) op.latency = number(c, op.latency, kCycles, what("latency"));
    if (c.kind == ChangeKind::Window) op.window = number(c, op.window, kCycles, what("window"));
    if (c.kind == ChangeKind::Warps) op.warps = static_cast<int>(number(c, op.warps, kWarps, what("warps")));
    if (c.kind != ChangeKind::Duration && c.kind != ChangeKind::Amount) continue;
    bool used = false;
    for (UnitUse& use : op.uses) {
      const Unit& unit = units[use.unit.index()];
      if (!c.unit.empty() && unit.name != c.unit) continue;
      used = true;
      if (c.kind == ChangeKind::Duration)
        use.duration = number(c, use.duration, kCycles, what(fmt::format("duration on {}", unit.name).c_str()));
      else
        use.amount = number(c, use.amount, {0, unit.capacity}, what(fmt::format("amount of {}", unit.name).c_str()));
    }
    // A rule's formula may come to nothing for some of its ops; whether it knows the unit at all is checked by name.
    if (!used && !c.op.empty())
      faults_.add(place_of(c, "unit"), c.unit.empty() ? fmt::format("change '{}': op '{}' uses no unit", title(c), op.name)
                                                      : fmt::format("change '{}': op '{}' does not use unit '{}'", title(c),
                                                                    op.name, c.unit));
    std::erase_if(op.uses, [](const UnitUse& use) { return use.duration == 0 || use.amount == 0; });
  }
}

Cycle ChangedNumbers::hand_off(const char* field, Cycle cycles) const {
  for (const Change& c : changes_)
    if (c.kind == ChangeKind::HandOff && c.field == field)
      cycles = number(c, cycles, kCycles, fmt::format("hand-off {}", field));
  return cycles;
}

int ChangedNumbers::max_groups(int groups) const {
  for (const Change& c : changes_)
    if (c.kind == ChangeKind::Groups) groups = static_cast<int>(number(c, groups, kGroups, "number of warp groups"));
  return groups;
}

std::vector<std::string> ChangedNumbers::in_force() const {
  std::vector<std::string> texts;
  for (const Change& c : changes_)
    texts.push_back(c.name.empty() || c.name == describe(c) ? describe(c) : fmt::format("{} ({})", c.name, describe(c)));
  return texts;
}

}  // namespace heddle
