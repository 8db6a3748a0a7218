// Changes in words, and back.
#include "core/problem/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/base/suggest.h"
#include "core/machine/limit_fields.h"

namespace heddle {
namespace {

constexpr const char* kKinds[] = {"latency", "window", "warps", "duration", "amount",
                                  "capacity", "limit", "handoff", "groups"};

const std::vector<std::string> kCosts{"latency", "window", "warps", "duration", "amount"};

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

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
  const auto value = whole(text);
  if (!value || doubled || *value < -kLargestChange || *value > kLargestChange) return false;
  if (percent && (*value < kChangePercent.low || *value > kChangePercent.high)) return false;
  change.value = *value;
  return true;
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
                        : "numbers are OP.latency, OP.window, OP.warps, OP.UNIT.duration, OP.UNIT.amount (or a rule of the "
                          "machine in place of OP), UNIT.capacity, limits.NAME, handoff.register_copy, handoff.signal, groups";
}

bool read_number(std::string_view number, const Kernel& kernel, const Machine& machine, Change& change) {
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
    if (before == std::string_view::npos || (change.kind != ChangeKind::Duration && change.kind != ChangeKind::Amount))
      return false;
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

std::string number_of(const Change& c) {
  const std::string owner = c.op.empty() ? c.rule : c.op;
  switch (c.kind) {
    case ChangeKind::Duration:
    case ChangeKind::Amount:
      return c.unit.empty() ? fmt::format("{}.{}", owner, to_string(c.kind))
                            : fmt::format("{}.{}.{}", owner, c.unit, to_string(c.kind));
    case ChangeKind::Capacity: return c.unit + ".capacity";
    case ChangeKind::Limit: return "limits." + c.field;
    case ChangeKind::HandOff: return "handoff." + c.field;
    case ChangeKind::Groups: return "groups";
    default: return fmt::format("{}.{}", owner, to_string(c.kind));
  }
}

}  // namespace

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
  const auto same_number = [&](Change other) {
    other.effect = change.effect;
    other.value = change.value;
    return describe(other) == describe(change);
  };
  const auto found = std::find_if(changes.begin(), changes.end(), same_number);
  if (found == changes.end())
    changes.push_back(change);
  else
    *found = change;
}

std::string describe(const Change& change) {
  const char* sign = change.effect != ChangeEffect::To && change.value >= 0 ? "+" : "";
  return fmt::format("{}={}{}{}", number_of(change), sign, change.value,
                     change.effect == ChangeEffect::Percent ? "%" : "");
}

Result<Change> parse_change(std::string_view text, const Kernel& kernel, const Machine& machine) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    return Error::input(fmt::format("'{}' is no change", text), "write NUMBER=VALUE: exp0.latency=600, TC.capacity=+1");
  Change change;
  Error error;
  const std::string_view number = text.substr(0, equals), value = text.substr(equals + 1);
  if (!read_number(number, kernel, machine, change))
    error.faults.push_back({"", "", fmt::format("'{}': there is no number '{}'", text, number),
                            unknown_number(number, kernel, machine)});
  if (!read_effect(value, change))
    error.faults.push_back({"", "", fmt::format("'{}': '{}' is no value", text, value),
                            value.ends_with('%') ? "percent are written +10% or -10%, above -100"
                                                 : "write an integer, +N or -N to add, +P% or -P% for percent"});
  if (!error.faults.empty()) return error;
  return change;
}

}  // namespace heddle
