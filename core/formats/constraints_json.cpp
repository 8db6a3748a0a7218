// One table says which kinds have which fields.
#include "core/formats/constraints_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/atomic_file.h"
#include "core/base/text_style.h"
#include "core/formats/changes_json.h"
#include "core/formats/choices_json.h"
#include "core/formats/members.h"

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
  const char* about = "";
};

constexpr KindFacts kKinds[] = {
    {ConstraintKind::Pin, 1, kManyOps, "at", nullptr, false, "Start at exactly this cycle."},
    {ConstraintKind::Range, 1, kManyOps, "low", "high", false, "Start from low to high."},
    {ConstraintKind::InGroup, 1, kManyOps, "group", nullptr, false},
    {ConstraintKind::NotInGroup, 1, kManyOps, "group", nullptr, false},
    {ConstraintKind::SameGroup, 2, kManyOps, nullptr, nullptr, false},
    {ConstraintKind::DifferentGroup, 2, kManyOps, nullptr, nullptr, false},
    {ConstraintKind::Before, 2, 2, "delay", nullptr, false, "The second starts at least `delay` cycles after the first."},
    {ConstraintKind::SameStage, 2, kManyOps, nullptr, nullptr, false},
    {ConstraintKind::EarlierStage, 2, 2, "stages", nullptr, false, "The first is at least `stages` stages before the second."},
    {ConstraintKind::MaxStages, 0, 0, nullptr, "limit", false},
    {ConstraintKind::MaxWarps, 0, 0, nullptr, "limit", false},
    {ConstraintKind::MaxGroups, 0, 0, nullptr, "limit", false},
    {ConstraintKind::MaxRegisters, 0, 0, nullptr, "limit", false},
    {ConstraintKind::MaxSmem, 0, 0, nullptr, "limit", false},
    {ConstraintKind::MaxTmem, 0, 0, nullptr, "limit", false},
    {ConstraintKind::MaxDepth, 0, 0, nullptr, "limit", true, "At most this many slots for a channel."},
    {ConstraintKind::OneByOne, 0, 0, nullptr, nullptr, false, "No warp group begins an iteration before it has issued the one before."},
    {ConstraintKind::IIRange, 0, 0, "low", "high", false, "low <= II <= high; a high of 0 is no upper end."},
    {ConstraintKind::ClosedGroup, 1, 1, nullptr, nullptr, false,
     "The group of the op hands nothing to another group and takes nothing from one."},
    {ConstraintKind::MaxWidthRegisters, 0, 0, nullptr, "limit", false},
    {ConstraintKind::MaxStageSmem, 0, 0, nullptr, "limit", false,
     "Each ring takes its bytes for every stage from its writer to its last reader; stages count from cycle 0, where some op starts."},
    {ConstraintKind::MaxCrossingSmem, 0, 0, "beside", "limit", false,
     "Each ring takes its bytes where a reader is in another warp group than the writer; `beside`: bytes that are taken anyway."}};

const KindFacts& facts_of(ConstraintKind kind) {
  const auto* it = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindFacts& f) { return f.kind == kind; });
  HEDDLE_ASSERT(it != std::end(kKinds), "a kind of constraint is missing in the table");
  return *it;
}

/// A name that the problem must have.
struct OpOf : as::Name {
  const Problem& problem;
  void read(const Cursor& at, std::string& name) const {
    as::Name::read(at, name);
    if (name.empty() || problem.find_op(name).valid()) return;
    const auto known = names_of(problem.ops);
    std::string hint = did_you_mean(name, known);
    at.fault(fmt::format("no op '{}' in the loop body of {}", name, problem.kernel), hint.empty() ? "its ops: " + list_of(known) : hint);
  }
};

struct ChannelOf : as::Name {
  const Problem& problem;
  void read(const Cursor& at, std::string& name) const {
    as::Name::read(at, name);
    const auto known = names_of(problem.channels);
    if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) return;
    std::string hint = did_you_mean(name, known);
    at.fault(fmt::format("no channel '{}'", name), hint.empty() ? "channels: " + list_of(known) : hint);
  }
};

/// As many ops as the kind takes, each once.
struct OpsOf : as::List<OpOf> {
  ConstraintKind kind;
  OpsOf(const KindFacts& facts, const Problem& problem)
      : as::List<OpOf>{{{}, problem}, facts.min_ops, facts.max_ops, true}, kind(facts.kind) {}
  void read(const Cursor& at, std::vector<std::string>& ops) const {
    for (const Cursor& place : at.items()) {
      std::string name;
      item.read(place, name);
      if (!name.empty() && std::find(ops.begin(), ops.end(), name) != ops.end()) place.fault(fmt::format("op '{}' is listed twice", name));
      ops.push_back(std::move(name));
    }
    if (const Json::Array* items = at.json().items(); items && (items->size() < least || items->size() > most))
      at.fault(
          fmt::format("{} takes {}{}, found {}", to_string(kind), least == most ? "" : "at least ", count_of(least, "op"), items->size()));
  }
};

using ConstraintIn = as::InContext<UserConstraint, Problem>;
using RingIn = as::InContext<StageRing, Problem>;

/// For what is written, or described by a schema: read is only against a problem.
const Problem kNoProblem;

struct ConstraintsFile {
  Constraints constraints;
  Changes changes;
  LayoutChoices choices;
};

struct ChangeList {
  Json write(const Changes& changes) const { return changes_json(changes); }
  Json schema(const Changes&, Json& definitions) const { return changes_schema(definitions); }
};

}  // namespace

template <class Io>
void visit(Io& io, RingIn& in) {
  const OpOf op{as::name, in.context};
  io.required("writer", in.part.writer, op);
  io.always("readers", in.part.readers, as::list(op));
  io.required("bytes", in.part.bytes, as::count);
}

template <class Io>
void visit(Io& io, ConstraintIn& in) {
  UserConstraint& c = in.part;
  io.always("name", c.name);
  io.kind("kind of constraint", c.kind, kLastConstraintKind, [&] {
    const KindFacts& facts = facts_of(c.kind);
    io.part("", facts.about);
    if (facts.max_ops > 0) io.required("ops", c.ops, OpsOf(facts, in.context));
    if (facts.channel) io.required("channel", c.channel, ChannelOf{as::name, in.context});
    if (counts_rings(c.kind)) io.required("rings", c.rings, as::list(as::part_in(in.context)));
    if (facts.low_key)
      io.required(facts.low_key, c.low,
                  c.kind == ConstraintKind::Before         ? as::any_integer
                  : c.kind == ConstraintKind::EarlierStage ? as::Integer{1, kMostStagesApart}
                                                           : as::count);
    if (facts.high_key) io.required(facts.high_key, c.high, as::count);
    const bool open_end = c.kind == ConstraintKind::IIRange && c.high == 0;
    if ((c.kind == ConstraintKind::Range || c.kind == ConstraintKind::IIRange) && c.low > c.high && !open_end)
      io.fault(fmt::format("low {} is above high {}; nothing lies between", c.low, c.high), "swap the two");
    io.always("enabled", c.enabled);
  });
}

template <class Io>
void visit(Io& io, ConstraintsFile& f) {
  io.at_least_one({"constraints", "changes", "layouts", "instructions"});
  io.always("constraints", f.constraints, as::list(as::part_in(kNoProblem)));
  io.optional("changes", f.changes, ChangeList{},
              "Numbers of the kernel and the machine to be taken differently before anything is derived from them; in this order.");
  io.optional("layouts", f.choices.layouts, as::layout_texts, "How values lie: demands, as in a schedule file.");
  io.optional("instructions", f.choices.instructions, as::instruction_names, "In which instructions ops are written: the same.");
}

namespace {

Constraints read_list(const std::vector<Cursor>& items, const Problem& problem) {
  Constraints constraints;
  std::map<std::string, std::string> seen;
  for (const Cursor& item : items) {
    UserConstraint& constraint = constraints.emplace_back();
    as::part_in(problem).read(item, constraint);
    if (constraint.name.empty())
      constraint.name = describe(constraint);
    else if (const auto [it, fresh] = seen.emplace(constraint.name, item.pointer()); !fresh)
      item.fault(fmt::format("name '{}' is already taken by {}", constraint.name, it->second), "constraints are told apart by name");
  }
  return constraints;
}

auto constraints_reader(const Problem& problem) {
  return [&problem](ObjectReader& root, Constraints& constraints) {
    bool others = false;  // which are read by themselves
    for (const char* member : {"changes", "layouts", "instructions"}) others = root.find(member).has_value() || others;
    const bool none = others && !root.cursor().json().find("constraints");
    constraints = read_list(none ? root.list("constraints") : root.required_list("constraints"), problem);
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

Json constraints_json(const Constraints& constraints) { return as::list(as::part_in(kNoProblem)).write(constraints); }

Json constraints_list_schema(Json& definitions) { return as::list(as::part_in(kNoProblem)).schema(Constraints{}, definitions); }

Json constraints_schema() { return document_schema<ConstraintsFile>(kConstraintsSchema, "Heddle constraints"); }

std::string constraints_text(const Constraints& constraints, const Changes& changes, std::string_view original,
                             const LayoutChoices& choices) {
  Json root = document_json(kConstraintsSchema, ConstraintsFile{constraints, changes, choices});
  return document_text<Constraints>(std::move(root), original, kConstraintsSchema, [](ObjectReader& file, Constraints& ignored) {
    constraints_reader(Problem{})(file, ignored);
    read_changes_from(file);
    read_choices_from(file);
  });
}

Result<LayoutChoices> read_layout_demands(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  return read_document<LayoutChoices>(*text, path, kConstraintsSchema, warnings, [](ObjectReader& root, LayoutChoices& choices) {
    for (const char* member : {"constraints", "changes"}) root.find(member);
    choices = read_choices_from(root);
  });
}

}  // namespace heddle
