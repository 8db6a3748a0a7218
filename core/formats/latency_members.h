// Latencies that are not always the same, as machine files and changes list them: [{"cycles": 270, "share": 0.8}, ...]. For .cpp files
// only, like members.h.
#pragma once

#include <cmath>

#include "core/formats/members.h"
#include "core/machine/latency_spread.h"
#include "core/machine/machine.h"

namespace heddle {

namespace as {

/// A part of all, of at most six decimals: whole parts per million. Its range is judged with its neighbours (latency_spread.h).
struct Share {
  void read(const Cursor& at, std::int64_t& value) const {
    const Json& json = at.json();
    if (const std::int64_t* whole = json.integer(); whole && *whole >= -1000 && *whole <= 1000)
      value = *whole * kWholeShare;
    else if (const auto parts = json.number() ? parts_of(json) : std::nullopt)
      value = *parts;
    else
      at.fault("expected a share of at most six decimals, found " + describe(json), "a share is a part of all draws: 0.8");
  }
  static std::optional<std::int64_t> parts_of(const Json& json) {
    if (json.number_text().find_first_of("eE") == std::string::npos) return parse_decimal(json.number_text(), 6);
    const double parts = *json.number() * static_cast<double>(kWholeShare);
    if (!(std::abs(parts) < 1e9) || std::abs(parts - std::round(parts)) > 1e-6) return std::nullopt;
    return static_cast<std::int64_t>(std::llround(parts));
  }
  Json write(std::int64_t value) const {
    if (value % kWholeShare == 0) return value / kWholeShare;
    const double part = static_cast<double>(value) / static_cast<double>(kWholeShare);
    std::string digits = std::to_string(value % kWholeShare + kWholeShare).substr(1);
    while (digits.ends_with('0')) digits.pop_back();
    return Json::number("0." + digits, part);
  }
  Json schema(std::int64_t, Json&) const { return schema::type("number").set("exclusiveMinimum", 0).set("maximum", 1); }
};
inline constexpr Share share;

/// A number or a list of latencies, which `Owner` keeps in two members: visit() of an item says what its cycles are.
template <class Single, class Owner, class Value, class Item>
struct OneOrSeveral {
  Single single;
  Value Owner::*one;
  std::vector<Item> Owner::*several;

  void read(const Cursor& at, Owner& owner) const {
    if (!at.json().items()) return single.read(at, owner.*one);
    const std::size_t before = at.log().faults.size();
    std::vector<Item>& items = owner.*several;
    list(usual<Item>()).read(at, items);
    if (at.log().faults.size() != before) return;
    const auto report = [&](const std::vector<SpreadFault>& faults, const char* member) {
      for (const SpreadFault& fault : faults)
        at.log().fault(fault.at ? pointer_to(pointer_to(at.pointer(), *fault.at), member) : at.pointer(), fault.message, fault.hint);
    };
    std::vector<std::int64_t> shares;
    for (const Item& item : items) shares.push_back(item.share);
    report(share_faults(shares), "share");
    // Formulas are judged where they are evaluated.
    if constexpr (std::integral<decltype(Item::cycles)>) {
      std::vector<Cycle> cycles;
      for (const Item& item : items) cycles.push_back(item.cycles);
      report(order_faults(cycles), "cycles");
    }
  }
  Json write(const Owner& owner) const {
    return (owner.*several).empty() ? single.write(owner.*one) : list(usual<Item>()).write(owner.*several);
  }
  Json schema(const Owner&, Json& definitions) const {
    return Json::object().set("anyOf", Json::array()
                                           .push(single.schema(Value{}, definitions))
                                           .push(list(usual<Item>(), 1, kMostLatencies).schema(std::vector<Item>{}, definitions)));
  }
};

}  // namespace as

template <class Io>
void visit(Io& io, RuleLatency& l) {
  io.part("latency", "One of several latencies of an op.");
  io.required("cycles", l.cycles, "issue until a dependent may issue; each more than the one before");
  io.required("share", l.share, as::share, "how often it takes so long, a part of all; together they are 1");
}

}  // namespace heddle
