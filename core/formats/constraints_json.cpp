// heddle.constraints/1: one table says which kinds have which fields, for reading and writing alike.
#include "core/formats/constraints_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/atomic_file.h"
#include "core/base/json_reader.h"
#include "core/base/words.h"
#include "core/formats/changes_json.h"
#include "core/formats/cost_json.h"

namespace heddle {
namespace {

constexpr const char* kConstraintsSchema = "heddle.constraints/1";
constexpr std::size_t kManyOps = 1 << 20;

struct KindFacts {
  ConstraintKind kind;
  std::size_t min_ops, max_ops;
  const char* low_key;  ///< the key that holds `low`; nullptr: not used
  const char* high_key;
  bool channel;
};

constexpr KindFacts kKinds[] = {{ConstraintKind::Pin, 1, kManyOps, "at", nullptr, false},
                                {ConstraintKind::Range, 1, kManyOps, "low", "high", false},
                                {ConstraintKind::InGroup, 1, kManyOps, "group", nullptr, false},
                                {ConstraintKind::NotInGroup, 1, kManyOps, "group", nullptr, false},
                                {ConstraintKind::SameGroup, 2, kManyOps, nullptr, nullptr, false},
                                {ConstraintKind::DifferentGroup, 2, kManyOps, nullptr, nullptr, false},
                                {ConstraintKind::Before, 2, 2, "delay", nullptr, false},
                                {ConstraintKind::SameStage, 2, kManyOps, nullptr, nullptr, false},
                                {ConstraintKind::MaxStages, 0, 0, nullptr, "limit", false},
                                {ConstraintKind::MaxWarps, 0, 0, nullptr, "limit", false},
                                {ConstraintKind::MaxGroups, 0, 0, nullptr, "limit", false},
                                {ConstraintKind::MaxRegisters, 0, 0, nullptr, "limit", false},
                                {ConstraintKind::MaxSmem, 0, 0, nullptr, "limit", false},
                                {ConstraintKind::MaxTmem, 0, 0, nullptr, "limit", false},
                                {ConstraintKind::MaxDepth, 0, 0, nullptr, "limit", true},
                                {ConstraintKind::OneByOne, 0, 0, nullptr, nullptr, false},
                                {ConstraintKind::IIRange, 0, 0, "low", "high", false},
                                {ConstraintKind::ClosedGroup, 1, 1, nullptr, nullptr, false},
                                {ConstraintKind::MaxWidthRegisters, 0, 0, nullptr, "limit", false},
                                {ConstraintKind::MaxStageSmem, 0, 0, nullptr, "limit", false},
                                {ConstraintKind::MaxCrossingSmem, 0, 0, "beside", "limit", false}};

const KindFacts& facts_of(ConstraintKind kind) {
  const auto* it = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindFacts& f) { return f.kind == kind; });
  HEDDLE_ASSERT(it != std::end(kKinds), "a kind of constraint is missing in the table");
  return *it;
}

void read_ops(ObjectReader& object, const KindFacts& facts, const Problem& problem, UserConstraint& constraint) {
  if (facts.max_ops == 0) return;
  const auto list = object.require("ops");
  if (!list) return;
  const auto known = names_of(problem.ops);
  for (const Cursor& item : list->items()) {
    const auto name = item.name();
    if (!name) continue;
    if (!problem.find_op(*name).valid()) {
      std::string hint = did_you_mean(*name, known);
      item.fault(fmt::format("no op '{}' in the loop body of {}", *name, problem.kernel),
                 hint.empty() ? "its ops: " + list_of(known) : hint);
    } else if (std::find(constraint.ops.begin(), constraint.ops.end(), *name) != constraint.ops.end()) {
      item.fault(fmt::format("op '{}' is listed twice", *name));
    }
    constraint.ops.push_back(*name);
  }
  if (const Json::Array* items = list->json().items(); items && (items->size() < facts.min_ops || items->size() > facts.max_ops))
    list->fault(fmt::format("{} takes {}{} op{}, found {}", to_string(facts.kind), facts.min_ops == facts.max_ops ? "" : "at least ",
                            facts.min_ops, facts.min_ops == 1 ? "" : "s", items->size()));
}

std::vector<StageRing> read_rings(ObjectReader& object, const Problem& problem) {
  std::vector<StageRing> rings;
  for (const Cursor& item : object.required_list("rings")) {
    ObjectReader ring(item);
    const auto op = [&](const Cursor& at) {
      const std::string name = at.name().value_or("");
      if (!name.empty() && !problem.find_op(name).valid()) at.fault(fmt::format("no op '{}' in the loop body of {}", name, problem.kernel));
      return name;
    };
    StageRing& read = rings.emplace_back();
    if (const auto writer = ring.require("writer")) read.writer = op(*writer);
    for (const Cursor& reader : ring.list("readers")) read.readers.push_back(op(reader));
    read.bytes = ring.integer("bytes", 0, kLargestNumber);
  }
  return rings;
}

Json rings_json(const std::vector<StageRing>& rings) {
  Json list = Json::array();
  for (const StageRing& ring : rings)
    list.push(Json::object().set("writer", ring.writer).set("readers", names_json(ring.readers)).set("bytes", ring.bytes));
  return list;
}

void read_constraint(ObjectReader& object, const Problem& problem, UserConstraint& constraint) {
  constraint.name = object.string("name");
  constraint.enabled = object.boolean("enabled", true);
  const auto kind = object.require("kind");
  const auto word = kind ? kind->word("kind of constraint", words_up_to(kLastConstraintKind),
                                      [](std::string_view text) { return parse_word(text, kLastConstraintKind); })
                         : std::nullopt;
  if (!word) {
    // Without the kind it is not known which keys belong here: no warning about any.
    for (const char* key : {"ops", "at", "low", "high", "group", "delay", "limit", "channel", "rings", "beside"}) object.find(key);
    return;
  }
  constraint.kind = *word;
  const KindFacts& facts = facts_of(constraint.kind);
  read_ops(object, facts, problem, constraint);
  if (facts.channel) {
    const auto at = object.require("channel");
    constraint.channel = at ? at->name().value_or("") : "";
    const auto known = names_of(problem.channels);
    if (!constraint.channel.empty() && std::find(known.begin(), known.end(), constraint.channel) == known.end()) {
      std::string hint = did_you_mean(constraint.channel, known);
      at->fault(fmt::format("no channel '{}'", constraint.channel), hint.empty() ? "channels: " + list_of(known) : hint);
    }
  }
  const bool may_be_negative = constraint.kind == ConstraintKind::Before;
  if (facts.low_key) constraint.low = object.integer(facts.low_key, may_be_negative ? -kLargestNumber : 0, kLargestNumber);
  if (counts_rings(constraint.kind)) constraint.rings = read_rings(object, problem);
  if (facts.high_key) constraint.high = object.integer(facts.high_key, 0, kLargestNumber);
  const bool open_end = constraint.kind == ConstraintKind::IIRange && constraint.high == 0;
  if ((constraint.kind == ConstraintKind::Range || constraint.kind == ConstraintKind::IIRange) && constraint.low > constraint.high &&
      !open_end)
    object.cursor().fault(fmt::format("low {} is above high {}; nothing lies between", constraint.low, constraint.high), "swap the two");
}

Constraints read_list(const std::vector<Cursor>& items, const Problem& problem) {
  Constraints constraints;
  std::map<std::string, std::string> seen;
  for (const Cursor& item : items) {
    ObjectReader object(item);
    UserConstraint& constraint = constraints.emplace_back();
    read_constraint(object, problem, constraint);
    if (constraint.name.empty())
      constraint.name = describe(constraint);
    else if (const auto [it, fresh] = seen.emplace(constraint.name, item.pointer()); !fresh)
      item.fault(fmt::format("name '{}' is already taken by {}", constraint.name, it->second), "constraints are told apart by name");
  }
  return constraints;
}

auto constraints_reader(const Problem& problem) {
  return [&problem](ObjectReader& root, Constraints& constraints) {
    const bool only_changes = root.find("changes") && !root.cursor().json().find("constraints");
    constraints = read_list(only_changes ? root.list("constraints") : root.required_list("constraints"), problem);
  };
}

}  // namespace

Result<Constraints> parse_constraints(std::string_view text, const std::string& file_name, const Problem& problem,
                                      std::vector<Fault>* warnings) {
  return read_document<Constraints>(text, file_name, kConstraintsSchema, warnings, constraints_reader(problem));
}

Result<Constraints> read_constraints(const std::string& path, const Problem& problem, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_constraints(*text, path, problem, warnings) : text.error();
}

Constraints read_constraints_from(ObjectReader& root, const Problem& problem) { return read_list(root.list("constraints"), problem); }

Json constraints_json(const Constraints& constraints) {
  Json list = Json::array();
  for (const UserConstraint& constraint : constraints) {
    const KindFacts& facts = facts_of(constraint.kind);
    Json item = Json::object();
    item.set("name", constraint.name).set("kind", to_string(constraint.kind));
    if (facts.max_ops > 0) item.set("ops", names_json(constraint.ops));
    if (facts.channel) item.set("channel", constraint.channel);
    if (counts_rings(constraint.kind)) item.set("rings", rings_json(constraint.rings));
    if (facts.low_key) item.set(facts.low_key, constraint.low);
    if (facts.high_key) item.set(facts.high_key, constraint.high);
    item.set("enabled", constraint.enabled);
    list.push(std::move(item));
  }
  return list;
}

std::string constraints_text(const Constraints& constraints, const Changes& changes, std::string_view original) {
  Json root = Json::object().set("schema", kConstraintsSchema).set("constraints", constraints_json(constraints));
  if (!changes.empty()) root.set("changes", changes_json(changes));
  return document_text<Constraints>(std::move(root), original, kConstraintsSchema, [](ObjectReader& file, Constraints& ignored) {
    constraints_reader(Problem{})(file, ignored);
    read_changes_from(file);
  });
}

}  // namespace heddle
