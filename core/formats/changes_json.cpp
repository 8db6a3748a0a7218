// One table says which keys a kind of change has.
#include "core/formats/changes_json.h"

#include <fmt/format.h>

#include <map>

#include "core/base/atomic_file.h"
#include "core/base/words.h"
#include "core/machine/limit_fields.h"

namespace heddle {
namespace {

constexpr const char* kChangesSchema = "heddle.constraints/1";

/// What a change of this kind is about.
struct ChangeFacts {
  bool owner;  ///< op or rule
  bool unit, unit_needed;
  bool field;
};

ChangeFacts facts_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Latency:
    case ChangeKind::Window:
    case ChangeKind::Warps: return {true, false, false, false};
    case ChangeKind::Duration:
    case ChangeKind::Amount: return {true, true, false, false};
    case ChangeKind::Capacity: return {false, true, true, false};
    case ChangeKind::Limit:
    case ChangeKind::HandOff: return {false, false, false, true};
    case ChangeKind::Groups: break;
  }
  return {false, false, false, false};
}

void read_effect(ObjectReader& object, Change& change) {
  const struct {
    const char* key;
    ChangeEffect effect;
    Range range;
  } effects[] = {{"to", ChangeEffect::To, {0, kLargestChange}},
                 {"add", ChangeEffect::Add, {-kLargestChange, kLargestChange}},
                 {"percent", ChangeEffect::Percent, kChangePercent}};
  int given = 0;
  for (const auto& [key, effect, range] : effects) {
    const auto at = object.find(key);
    if (!at) continue;
    ++given;
    change.effect = effect;
    change.value = at->integer(range.low, range.high).value_or(0);
  }
  if (given != 1)
    object.cursor().fault(fmt::format("expected exactly one of to, add and percent, found {}", given == 0 ? "none" : "several"),
                          "to: the new number; add: a difference; percent: a difference in percent");
}

void read_change(ObjectReader& object, Change& change) {
  change.place = {object.cursor().log().file, object.cursor().pointer()};
  change.enabled = object.boolean("enabled", true);
  const auto kind = object.require("kind");
  const auto word = kind ? kind->word("kind of change", words_up_to(ChangeKind::Groups),
                                      [](std::string_view text) { return parse_word(text, ChangeKind::Groups); })
                         : std::nullopt;
  if (!word) {
    // Without the kind it is not known which keys belong here: no warning about any.
    for (const char* key : {"op", "rule", "unit", "field", "to", "add", "percent"}) object.find(key);
    return;
  }
  change.kind = *word;
  const ChangeFacts facts = facts_of(change.kind);
  const auto name_at = [&](const char* key) {
    const auto at = object.find(key);
    return at ? at->name().value_or("") : std::string();
  };
  if (facts.owner) {
    const auto op = object.find("op"), rule = object.find("rule");
    if (op.has_value() == rule.has_value())
      object.cursor().fault(fmt::format("expected exactly one of op and rule, found {}", op ? "both" : "none"),
                            "op: an op of the loop body; rule: a rule of the machine, for all ops that it costs");
    if (op) change.op = op->name().value_or("");
    if (rule) change.rule = rule->name().value_or("");
  }
  if (facts.unit) change.unit = facts.unit_needed ? object.name("unit") : name_at("unit");
  if (facts.field) change.field = object.name("field");
  read_effect(object, change);
}

}  // namespace

Changes read_changes_from(ObjectReader& root) {
  Changes changes;
  std::map<std::string, std::string> seen;
  for (const Cursor& item : root.list("changes")) {
    ObjectReader object(item);
    Change& change = changes.emplace_back();
    if (const auto name = object.find("name")) change.name = name->label().value_or("");
    read_change(object, change);
    if (change.name.empty())
      change.name = describe(change);
    else if (const auto [it, fresh] = seen.emplace(change.name, item.pointer()); !fresh)
      item.fault(fmt::format("name '{}' is already taken by {}", change.name, it->second), "changes are told apart by name");
  }
  return changes;
}

Result<Changes> parse_changes(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  return read_document<Changes>(text, file_name, kChangesSchema, warnings, [](ObjectReader& root, Changes& changes) {
    root.find("constraints");
    changes = read_changes_from(root);
  });
}

Result<Changes> read_changes(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_changes(*text, path, warnings) : text.error();
}

Json changes_json(const Changes& changes) {
  Json list = Json::array();
  for (const Change& change : changes) {
    const ChangeFacts facts = facts_of(change.kind);
    Json item = Json::object();
    item.set("name", change.name.empty() ? describe(change) : change.name).set("kind", to_string(change.kind));
    if (facts.owner) item.set(change.op.empty() ? "rule" : "op", change.op.empty() ? change.rule : change.op);
    if (!change.unit.empty()) item.set("unit", change.unit);
    if (facts.field) item.set("field", change.field);
    item.set(change.effect == ChangeEffect::To ? "to" : change.effect == ChangeEffect::Add ? "add" : "percent", change.value);
    item.set("enabled", change.enabled);
    list.push(std::move(item));
  }
  return list;
}

}  // namespace heddle
