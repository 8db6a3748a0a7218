#include "core/problem/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/machine/limit_fields.h"

namespace heddle {

namespace {

constexpr const char* kKinds[] = {"latency",    "window",   "warps", "duration", "amount",
                                  "latency_at", "capacity", "limit", "handoff",  "groups"};

const std::vector<std::string> kCosts{"latency", "window", "warps", "duration", "amount", "latency_at"};

/// "+10%", "-20", "600".
bool read_effect(std::string_view text, Change& change) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const bool sign = text.starts_with('+') || text.starts_with('-');
  if (percent && !sign) return false;
  change.effect = percent ? ChangeEffect::Percent : sign ? ChangeEffect::Add : ChangeEffect::To;
  const bool plus = text.starts_with('+');
  if (plus) text.remove_prefix(1);
  const bool doubled = plus && text.starts_with('-');
  const auto value = read_number<std::int64_t>(text);
  if (!value || doubled || *value < -kLargestChange || *value > kLargestChange) return false;
  if (percent && (*value < kChangePercent.low || *value > kChangePercent.high)) return false;
  change.value = *value;
  return true;
}

/// What is wrong with a list of latencies as a command line has it; those that are good go into the change.
std::vector<Fault> read_cases(std::string_view text, std::string_view value, Change& change) {
  std::vector<Fault> faults;
  const auto add = [&](const std::string& message, std::string hint) {
    faults.push_back({"", "", fmt::format("'{}': {}", text, message), std::move(hint)});
  };
  std::vector<std::string> unread;
  change.cases = parse_cases(value, unread);
  for (const std::string& item : unread)
    add(fmt::format("'{}' is no latency with its share", item), "write CYCLES:P%, separated by commas: 270:80%,700:18%,1400:2%");
  if (change.kind != ChangeKind::Latency) add("only a latency may be a list of cycles and shares", "write an integer");
  std::vector<std::int64_t> shares;
  std::vector<Cycle> cycles;
  for (const LatencyCase& c : change.cases) shares.push_back(c.share), cycles.push_back(c.cycles);
  if (unread.empty())
    for (SpreadFault& fault : share_faults(shares)) add(fault.message, std::move(fault.hint));
  for (SpreadFault& fault : order_faults(cycles)) add(fault.message, std::move(fault.hint));
  return faults;
}

bool knows_op(const Kernel& kernel, std::string_view name) {
  return std::any_of(kernel.body.begin(), kernel.body.end(), [&](const TileOp& op) { return op.name == name; });
}

bool set_owner(Change& change, std::string_view name, const Kernel& kernel, const Machine& machine) {
  if (knows_op(kernel, name))
    change.op = name;
  else if (machine.find_rule(name))
    change.rule = name;
  else
    return false;
  return true;
}

std::string unknown_number(std::string_view number, const Kernel& kernel, const Machine& machine) {
  const std::size_t dot = number.rfind('.');
  const std::string owner(number.substr(0, dot)), last(dot == std::string_view::npos ? "" : number.substr(dot + 1));
  std::vector<std::string> owners = names_of(kernel.body);
  for (const CostRule& rule : machine.rules) owners.push_back(rule.kind);
  for (const Unit& unit : machine.units) owners.push_back(unit.name);
  std::vector<std::string> fields = kCosts;
  fields.push_back("capacity");
  if (owner == "limits" || owner == "handoff") {
    fields = {"register_copy", "signal"};
    if (owner == "limits") {
      fields.clear();
      for (const LimitField& limit : limit_fields()) fields.emplace_back(limit.name);
    }
    const std::string guess = did_you_mean(last, fields);
    return guess.empty() ? fmt::format("{} has {}", owner, list_of(fields)) : guess;
  }
  std::string guess = did_you_mean(last, fields);
  if (std::find(fields.begin(), fields.end(), last) != fields.end()) guess = did_you_mean(owner, owners);
  return !guess.empty() ? guess
                        : "numbers are OP.latency, OP.latency_at, OP.window, OP.warps, OP.UNIT.duration, OP.UNIT.amount (or a rule of the "
                          "machine in place of OP), UNIT.capacity, limits.NAME, handoff.register_copy, handoff.signal, groups";
}

bool read_name(std::string_view number, const Kernel& kernel, const Machine& machine, Change& change) {
  if (number == "groups") {
    change.kind = ChangeKind::Groups;
    return true;
  }
  const std::size_t dot = number.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view owner = number.substr(0, dot), last = number.substr(dot + 1);
  if (const auto cost = std::find(kCosts.begin(), kCosts.end(), last); cost != kCosts.end()) {
    change.kind = static_cast<ChangeKind>(cost - kCosts.begin());
    if (set_owner(change, owner, kernel, machine)) return true;
    const std::size_t before = owner.rfind('.');
    if (before == std::string_view::npos || (change.kind != ChangeKind::Duration && change.kind != ChangeKind::Amount)) return false;
    change.unit = owner.substr(before + 1);
    return machine.find_unit(change.unit) && set_owner(change, owner.substr(0, before), kernel, machine);
  }
  if (last == "capacity" && machine.find_unit(owner)) {
    change.kind = ChangeKind::Capacity;
    change.unit = owner;
    return true;
  }
  change.field = last;
  if (owner == "limits" && find_limit(last)) {
    change.kind = ChangeKind::Limit;
    return true;
  }
  change.kind = ChangeKind::HandOff;
  return owner == "handoff" && (last == "register_copy" || last == "signal");
}

}  // namespace

std::string number_name(const Change& c) {
  const std::string owner = c.op.empty() ? c.rule : c.op;
  switch (c.kind) {
    case ChangeKind::Duration:
    case ChangeKind::Amount:
      return c.unit.empty() ? fmt::format("{}.{}", owner, to_string(c.kind)) : fmt::format("{}.{}.{}", owner, c.unit, to_string(c.kind));
    case ChangeKind::Capacity: return c.unit + ".capacity";
    case ChangeKind::Limit: return "limits." + c.field;
    case ChangeKind::HandOff: return "handoff." + c.field;
    case ChangeKind::Groups: return "groups";
    default: return fmt::format("{}.{}", owner, to_string(c.kind));
  }
}

bool same_number(const Change& a, const Change& b) { return number_name(a) == number_name(b); }

const char* to_string(ChangeKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::int64_t changed(const Change& change, std::int64_t number) {
  switch (change.effect) {
    case ChangeEffect::To: return change.value;
    case ChangeEffect::Add: return sat_add(number, change.value);
    case ChangeEffect::Percent: {
      const std::int64_t doubled = sat_mul(sat_mul(2, number), 100 + change.value);
      return std::max<std::int64_t>(floor_div(sat_add(doubled, 100), 200), number >= 1);
    }
  }
  return number;
}

void put(Changes& changes, const Change& change) {
  const auto found = std::find_if(changes.begin(), changes.end(), [&](const Change& other) { return same_number(other, change); });
  if (found == changes.end())
    changes.push_back(change);
  else
    *found = change;
}

std::string describe(const Change& change) {
  if (!change.cases.empty()) return fmt::format("{}={}", number_name(change), describe(change.cases));
  const char* sign = change.effect != ChangeEffect::To && change.value >= 0 ? "+" : "";
  return fmt::format("{}={}{}{}", number_name(change), sign, change.value, change.effect == ChangeEffect::Percent ? "%" : "");
}

Result<Change> parse_change(std::string_view text, const Kernel& kernel, const Machine& machine) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    return Error::input(fmt::format("'{}' is no change", text), "write NUMBER=VALUE: exp0.latency=600, TC.capacity=+1");
  Change change;
  Error error;
  const std::string_view number = text.substr(0, equals), value = text.substr(equals + 1);
  if (!read_name(number, kernel, machine, change))
    error.faults.push_back({"", "", fmt::format("'{}': there is no number '{}'", text, number), unknown_number(number, kernel, machine)});
  if (value.find(':') != std::string_view::npos) {
    for (Fault& fault : read_cases(text, value, change)) error.faults.push_back(std::move(fault));
  } else if (!read_effect(value, change))
    error.faults.push_back({"", "", fmt::format("'{}': '{}' is no value", text, value),
                            value.ends_with('%')
                                ? "percent are written +10% or -10%, above -100"
                                : "write an integer, +N or -N to add, +P% or -P% for percent; a latency may also be 270:80%,700:20%"});
  if (!error.faults.empty()) return error;
  return change;
}

namespace {

constexpr Range kCycles{0, kAbsurd};
constexpr Range kWarps{1, 1 << 20};
constexpr Range kGroups{1, 32};

std::string title(const Change& change) { return change.name.empty() ? describe(change) : change.name; }

/// On the command line there is no place; the change's name has to do.
FaultPlace place_of(const Change& change, const char* key) {
  return change.place.file.empty() ? change.place : FaultPlace{change.place.file, change.place.pointer + "/" + key};
}

const char* key_of(ChangeEffect effect) { return effect == ChangeEffect::To ? "to" : effect == ChangeEffect::Add ? "add" : "percent"; }

bool is_cost(ChangeKind kind) { return kind <= ChangeKind::LatencyAt; }

bool gives_itself(const CostOverride* own, ChangeKind kind) {
  if (!own) return false;
  switch (kind) {
    case ChangeKind::Latency:
    case ChangeKind::LatencyAt: return own->latency.has_value();
    case ChangeKind::Window: return own->window.has_value();
    case ChangeKind::Warps: return own->warps.has_value();
    default: return own->uses.has_value();
  }
}

}  // namespace

ChangedNumbers::ChangedNumbers(const Changes& changes, const Kernel& kernel, Machine& machine, FaultLog& faults) : faults_(faults) {
  for (const Change& change : changes)
    if (change.enabled) check_names(change, kernel, machine);
  for (const Change& change : changes_) edit_machine(change, machine);
}

void ChangedNumbers::check_names(const Change& c, const Kernel& kernel, const Machine& machine) {
  bool known = true;
  const auto expect = [&](const std::string& name, const std::vector<std::string>& names, const char* key, const std::string& whose) {
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
  faults_.add(place_of(change, key_of(change.effect)),
              fmt::format("change '{}': {} becomes {}, expected {} to {}", title(change), what, value, range.low, range.high));
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

void ChangedNumbers::apply_latency(const Change& c, Op& op) const {
  const std::string what = fmt::format("latency of op '{}'", op.name);
  LatencySpread& spread = op.spread;
  if (c.kind == ChangeKind::LatencyAt) {
    if (spread.empty())
      return faults_.add(c.place, fmt::format("change '{}': the {} is always the same, {}", title(c), what, op.latency),
                         "give it a list of cycles with shares first: latency=270:80%,700:20%");
    const auto count = static_cast<std::int64_t>(spread.cases.size());
    spread.at =
        static_cast<std::size_t>(number(c, static_cast<std::int64_t>(spread.at) + 1, {1, count}, "place in the list of " + what) - 1);
  } else if (!c.cases.empty()) {
    bool good = true;
    for (const LatencyCase& latency : c.cases) {
      if (latency.cycles >= kCycles.low && latency.cycles <= kCycles.high) continue;
      faults_.add(place_of(c, "to"),
                  fmt::format("change '{}': {} becomes {}, expected {} to {}", title(c), what, latency.cycles, kCycles.low, kCycles.high));
      good = false;
    }
    if (good) spread = {c.cases, median_case(c.cases)};
  } else if (spread.empty() || c.effect == ChangeEffect::To) {
    spread = {};
    op.latency = number(c, op.latency, kCycles, what);
  } else {
    // All of them move; what percent rounds together is one.
    std::vector<LatencyCase> moved;
    std::size_t at = 0;
    for (std::size_t i = 0; i < spread.cases.size(); ++i) {
      const LatencyCase& old = spread.cases[i];
      const Cycle cycles = number(c, old.cycles, kCycles, what);
      if (moved.empty() || moved.back().cycles != cycles)
        moved.push_back({cycles, old.share});
      else
        moved.back().share += old.share;
      if (i == spread.at) at = moved.size() - 1;
    }
    spread = {std::move(moved), at};
  }
  if (!spread.empty()) op.latency = spread.chosen();
}

void ChangedNumbers::apply(Op& op, const CostOverride* own, const std::vector<Unit>& units) const {
  for (const Change& c : changes_) {
    if (!is_cost(c.kind)) continue;
    if (c.op.empty() ? c.rule != op.rule || gives_itself(own, c.kind) : c.op != op.name) continue;
    const auto what = [&](const char* field) { return fmt::format("{} of op '{}'", field, op.name); };
    if (c.kind == ChangeKind::Latency || c.kind == ChangeKind::LatencyAt) {
      if (!c.cases.empty() && own && own->blocking)
        faults_.add(place_of(c, "to"), fmt::format("change '{}': op '{}' holds its warps until its result is there", title(c), op.name),
                    "give it one latency");
      else
        apply_latency(c, op);
    }
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
      faults_.add(place_of(c, "unit"), c.unit.empty()
                                           ? fmt::format("change '{}': op '{}' uses no unit", title(c), op.name)
                                           : fmt::format("change '{}': op '{}' does not use unit '{}'", title(c), op.name, c.unit));
    std::erase_if(op.uses, [](const UnitUse& use) { return use.duration == 0 || use.amount == 0; });
  }
}

Cycle ChangedNumbers::hand_off(const char* field, Cycle cycles) const {
  for (const Change& c : changes_)
    if (c.kind == ChangeKind::HandOff && c.field == field) cycles = number(c, cycles, kCycles, fmt::format("hand-off {}", field));
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
