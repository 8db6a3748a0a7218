// One table says which keys a kind of change has.
#include "core/formats/changes_json.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/formats/latency_members.h"
#include "core/formats/members.h"
#include "core/machine/limit_fields.h"

namespace heddle {
namespace {

constexpr const char* kChangesSchema = "heddle.constraints/1";

/// What a change of this kind is about.
struct ChangeFacts {
  bool owner;  ///< op or rule
  bool unit, unit_needed;
  bool field;
  const char* about = "";
};

ChangeFacts facts_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Latency:
    case ChangeKind::Window:
    case ChangeKind::Warps:
    case ChangeKind::LatencyAt:
      return {true, false, false, false, "A cost of one op, or of all ops that take it from one rule of the machine."};
    case ChangeKind::Duration:
    case ChangeKind::Amount:
      return {true, true, false, false, "How long, and how much of, a unit is reserved; of all its units without `unit`."};
    case ChangeKind::Capacity: return {false, true, true, false};
    case ChangeKind::Limit:
    case ChangeKind::HandOff:
      return {false, false, false, true, "A limit of the machine by its name there, or the hand-off's register_copy or signal."};
    case ChangeKind::Groups: break;
  }
  return {false, false, false, false, "Most warp groups, the producer included."};
}

/// What a latency becomes: one number, or several.
struct NewLatency {
  std::int64_t value = 0;
  std::vector<LatencyCase> cases;
};

}  // namespace

template <class Io>
void visit(Io& io, LatencyCase& l) {
  io.part("latency_case", "One of several latencies of an op.");
  io.required("cycles", l.cycles, as::integer(0, kLargestChange), "each more than the one before");
  io.required("share", l.share, as::share, "how often it takes so long, a part of all; together they are 1");
}

template <class Io>
void effect_of_latency(Io& io, Change& c) {
  std::optional<NewLatency> latency;
  if (c.effect == ChangeEffect::To) latency = NewLatency{c.value, c.cases};
  io.optional("to", latency,
              as::OneOrSeveral<as::Integer, NewLatency, std::int64_t, LatencyCase>{as::integer(0, kLargestChange), &NewLatency::value,
                                                                                   &NewLatency::cases});
  if (latency) c.effect = ChangeEffect::To, c.value = latency->value, c.cases = latency->cases;
}

template <class Io>
void visit(Io& io, Change& c) {
  io.always("name", c.name, as::label);
  io.kind("kind of change", c.kind, ChangeKind::Groups, [&] {
    const ChangeFacts facts = facts_of(c.kind);
    io.part("", facts.about);
    if (facts.owner) {
      io.exactly_one({"op", "rule"}, "op: an op of the loop body; rule: a rule of the machine, for all ops that it costs");
      io.optional("op", c.op, as::name);
      io.optional("rule", c.rule, as::name);
    }
    if (facts.unit) facts.unit_needed ? io.required("unit", c.unit, as::name) : io.optional("unit", c.unit, as::name);
    if (facts.field) io.required("field", c.field, as::name);

    io.exactly_one({"to", "add", "percent"}, "to: the new number; add: a difference; percent: a difference in percent");
    const auto effect = [&](const char* key, ChangeEffect is, Range range) {
      std::optional<std::int64_t> value;
      if (c.effect == is) value = c.value;
      io.optional(key, value, as::integer(range.low, range.high));
      if (value) c.effect = is, c.value = *value;
    };
    if (c.kind == ChangeKind::Latency)
      effect_of_latency(io, c);
    else
      effect("to", ChangeEffect::To, {0, kLargestChange});
    effect("add", ChangeEffect::Add, {-kLargestChange, kLargestChange});
    effect("percent", ChangeEffect::Percent, kChangePercent);
    io.always("enabled", c.enabled);
  });
}

Changes read_changes_from(ObjectReader& root) {
  Changes changes;
  std::map<std::string, std::string> seen;
  for (const Cursor& item : root.list("changes")) {
    Change& change = changes.emplace_back();
    as::part.read(item, change);
    change.place = {item.log().file, item.pointer()};
    if (change.name.empty())
      change.name = describe(change);
    else if (const auto [it, fresh] = seen.emplace(change.name, item.pointer()); !fresh)
      item.fault(fmt::format("name '{}' is already taken by {}", change.name, it->second), "changes are told apart by name");
  }
  return changes;
}

Result<Changes> parse_changes(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  return read_document<Changes>(text, file_name, kChangesSchema, warnings, [](ObjectReader& root, Changes& changes) {
    for (const char* member : {"constraints", "layouts", "instructions"}) root.find(member);
    changes = read_changes_from(root);
  });
}

Result<Changes> read_changes(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_changes(*text, path, warnings) : text.error();
}

Json changes_json(Changes changes) {
  for (Change& change : changes)
    if (change.name.empty()) change.name = describe(change);
  return as::usual<Changes>().write(changes);
}

Json changes_schema(Json& definitions) { return as::usual<Changes>().schema(Changes{}, definitions); }

}  // namespace heddle
