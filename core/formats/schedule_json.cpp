#include "core/formats/schedule_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/json_reader.h"
#include "core/base/words.h"
#include "core/check/form.h"
#include "core/formats/cost_json.h"

namespace heddle {
namespace {

constexpr const char* kScheduleSchema = "heddle.schedule/1";
constexpr std::int64_t kMostWarps = 1024;
constexpr std::int64_t kMostRegisters = 1 << 16;
constexpr std::int64_t kMostSlots = 1 << 20;

Scope read_params(ObjectReader& root) {
  Scope params;
  const auto at = root.find("params");
  if (!at) return params;
  const Json::Object* members = at->json().members();
  if (!members)
    at->fault("expected an object, found " + describe(at->json()));
  else
    for (const JsonMember& member : *members)
      if (const auto value =
              Cursor(member.value, pointer_to(at->pointer(), member.key), at->log()).integer(-kLargestNumber, kLargestNumber))
        params[member.key] = *value;
  return params;
}

ScheduleHead read_head(ObjectReader& root) {
  ScheduleHead head;
  head.name = root.string("name");
  head.kernel = root.label("kernel");
  head.machine = root.label("machine");
  head.params = read_params(root);
  return head;
}

std::vector<ObjectiveValue> read_objectives(ObjectReader& object) {
  std::vector<ObjectiveValue> objectives;
  for (const Cursor& item : object.list("objectives")) {
    ObjectReader objective(item);
    ObjectiveValue& value = objectives.emplace_back();
    value.name = objective.label("name");
    value.value = objective.integer("value", -kLargestNumber, kLargestNumber);
    value.proved = objective.boolean("proved", false);
  }
  return objectives;
}

Certificate read_certificate(const Cursor& at) {
  ObjectReader object(at);
  Certificate c;
  if (const auto status = object.require("status"))
    c.status = status->word("status", words_up_to(Status::Invalid), [](std::string_view word) { return parse_word(word, Status::Invalid); })
                   .value_or(Status::Unknown);
  c.ii = object.integer("ii", 0, kLargestNumber);
  c.lower_bound = object.integer("lower_bound", 0, kLargestNumber, 0);
  if (object.find("bound_stages")) c.bound_stages = static_cast<int>(object.integer("bound_stages", 1, 1 << 20, 1));
  if (const auto reason = object.find("reason"))
    c.reason = reason
                   ->word("reason", words_up_to(BoundReason::Requested),
                          [](std::string_view word) { return parse_word(word, BoundReason::Requested); })
                   .value_or(BoundReason::None);
  c.explanation = object.string("explanation");
  c.objectives = read_objectives(object);
  c.solver = object.string("solver");
  if (const auto seed = object.find("seed")) c.seed = seed->natural64().value_or(0);
  if (const auto seconds = object.find("seconds")) c.seconds = seconds->real().value_or(0);
  c.problem_hash = object.string("problem_hash");
  c.checked = object.boolean("checked", false);
  return c;
}

/// Reads everything but the head, indexed like `problem`.
class ScheduleReader {
 public:
  ScheduleReader(const Problem& problem, ObjectReader& root, Schedule& schedule)
      : problem_(problem), root_(root), log_(root.cursor().log()), schedule_(schedule) {}

  void run() {
    schedule_.ii = root_.integer("ii", 1, kLargestNumber);
    groups();
    const std::size_t before = log_.faults.size();
    placements();
    const bool other_ops = log_.faults.size() > before;
    group_lists();
    channels();
    if (const auto provenance = root_.find("provenance")) {
      ObjectReader object(*provenance);
      schedule_.provenance.kind = object.label("kind");
      schedule_.provenance.author = object.string("author");
      schedule_.provenance.note = object.string("note");
    }
    if (const auto at = root_.find("certificate"); at && !at->json().is_null()) certificate(*at);
    for (const Cursor& item : root_.list("changes")) changes_.push_back(item.string().value_or(""));
    compare_with_problem(other_ops);
  }

 private:
  void warn(const std::string& pointer, std::string message, std::string hint = {}) {
    log_.warnings.push_back({log_.file, pointer, std::move(message), std::move(hint)});
  }

  void groups() {
    const auto list = root_.require("groups");
    if (!list) return;
    if (list->json().is_array() && list->json().items()->empty()) list->fault("expected at least one warp group");
    for (const Cursor& item : list->items()) {
      ObjectReader object(item);
      const auto index = static_cast<std::int64_t>(schedule_.groups.size());
      ScheduleGroup& group = schedule_.groups.emplace_back();
      // Groups are numbered by their place; a written id that says something else would be misread.
      object.integer("id", index, index, index);
      // A group without a role is called by its number.
      if (const auto role = object.find("role"); role && !(role->json().string() && role->json().string()->empty()))
        group.role = role->name().value_or("");
      group.warps = static_cast<int>(object.integer("warps", 0, kMostWarps));
      group.registers = static_cast<int>(object.integer("registers", 0, kMostRegisters, 0));
      group_ops_.push_back(object.find("ops"));
    }
  }

  /// Invalid, with a fault, when the problem has no such op.
  OpId op_at(const Cursor& at, const std::string& name) {
    if (name.empty()) return {};
    const OpId op = problem_.find_op(name);
    if (op.valid()) return op;
    std::string hint = did_you_mean(name, names_of(problem_.ops));
    if (hint.empty()) hint = "its ops: " + list_of(names_of(problem_.ops));
    at.fault(fmt::format("no op '{}' in the loop body of {}", name, problem_.kernel), std::move(hint));
    return {};
  }

  void placements() {
    schedule_.ops.assign(problem_.ops.size(), {});
    placed_.assign(problem_.ops.size(), false);
    const auto list = root_.require("ops");
    if (!list) return;
    for (const Cursor& item : list->items()) placement(item);
    for (std::size_t v = 0; v < problem_.ops.size(); ++v)
      if (!placed_[v] && list->json().is_array()) list->fault(fmt::format("op '{}' has no placement", problem_.ops[v].name));
  }

  void placement(const Cursor& item) {
    ObjectReader object(item);
    const auto id = object.require("id");
    const OpId op = id ? op_at(*id, id->name().value_or("")) : OpId{};
    Placement place;
    const auto start = object.require("start");
    const auto begin = start ? start->integer(0, kLargestNumber) : std::nullopt;
    place.start = begin.value_or(0);
    const std::int64_t group_count = static_cast<std::int64_t>(schedule_.groups.size());
    if (const auto group = object.require("group"); group && group_count > 0)
      if (const auto index = group->integer(0, group_count - 1)) place.group = GroupId(static_cast<std::size_t>(*index));
    redundant(object, "stage", begin ? std::optional(place.start / schedule_.ii) : std::nullopt, place.start);
    redundant(object, "slot", begin ? std::optional(place.start % schedule_.ii) : std::nullopt, place.start);
    if (!op.valid()) return;
    if (placed_[op.index()]) return id->fault(fmt::format("op '{}' is placed twice", problem_.op(op).name));
    placed_[op.index()] = true;
    schedule_.ops[op.index()] = place;
  }

  void redundant(ObjectReader& object, const char* key, std::optional<Cycle> expected, Cycle start) {
    const auto at = object.find(key);
    const auto found = at ? at->integer(0, kLargestNumber) : std::nullopt;
    if (found && expected && *found != *expected)
      at->fault(fmt::format("{} {} contradicts start {} with II {}, which is {} {}", key, *found, start, schedule_.ii, key, *expected),
                fmt::format("correct it or leave \"{}\" out", key));
  }

  void group_lists() {
    for (std::size_t g = 0; g < group_ops_.size(); ++g) {
      if (!group_ops_[g]) continue;
      std::vector<bool> listed(problem_.ops.size(), false);
      for (const Cursor& item : group_ops_[g]->items()) {
        const OpId op = op_at(item, item.name().value_or(""));
        if (!op.valid()) continue;
        listed[op.index()] = true;
        const GroupId actual = schedule_.ops[op.index()].group;
        if (placed_[op.index()] && actual.valid() && actual != GroupId(g))
          item.fault(fmt::format("'{}' is listed in group {}, but its placement says group {}", problem_.op(op).name, g, actual.index()));
      }
      for (std::size_t v = 0; v < problem_.ops.size(); ++v)
        if (placed_[v] && !listed[v] && schedule_.ops[v].group == GroupId(g))
          group_ops_[g]->fault(fmt::format("'{}' is placed in this group but not listed", problem_.ops[v].name),
                               "list it or leave \"ops\" out");
    }
  }

  std::optional<std::size_t> channel_of(const std::string& name) const {
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      if (channel.name == name) return c;
      for (const ValueId value : channel.values)
        if (problem_.value(value).name == name) return c;
    }
    return std::nullopt;
  }

  void channels() {
    std::vector<std::optional<int>> depths(problem_.channels.size());
    for (const Cursor& item : root_.list("channels")) {
      ObjectReader object(item);
      const auto value = object.require("value");
      const std::string name = value ? value->name().value_or("") : "";
      const int depth = static_cast<int>(object.integer("depth", 0, kMostSlots));
      if (name.empty()) continue;
      const auto channel = channel_of(name);
      if (!channel) {
        const auto known = names_of(problem_.channels);
        std::string hint = did_you_mean(name, known);
        if (hint.empty()) hint = known.empty() ? "this problem has none" : "its channels: " + list_of(known);
        value->fault(fmt::format("no channel holds a value '{}'", name), std::move(hint));
      } else if (depths[*channel]) {
        value->fault(fmt::format("the depth of channel '{}' is given twice", problem_.channels[*channel].name));
      } else {
        depths[*channel] = depth;
      }
    }
    for (std::size_t c = 0; c < depths.size(); ++c) {
      if (!depths[c] && !problem_.channels[c].only_if_crossing)
        log_.fault("/channels", fmt::format("channel '{}' has no depth", problem_.channels[c].name),
                   fmt::format("add {{\"value\": \"{}\", \"depth\": 1}}, or more slots", problem_.channels[c].name));
      schedule_.depths.push_back(depths[c].value_or(0));
    }
  }

  /// A certificate speaks about one problem and one II. Where it names none, or another II, it says nothing.
  void certificate(const Cursor& at) {
    Certificate certificate = read_certificate(at);
    if (certificate.problem_hash.empty())
      warn(at.pointer(), "the certificate does not say which problem it is about and is ignored", "solve again to certify this schedule");
    else if (certificate.ii != schedule_.ii)
      warn(at.pointer(), fmt::format("the certificate is for II {}, the schedule has II {}; it is ignored", certificate.ii, schedule_.ii));
    else
      schedule_.claim = std::move(certificate);
  }

  void compare_with_problem(bool other_ops) {
    if (schedule_.kernel != problem_.kernel && !schedule_.kernel.empty()) {
      std::string message = fmt::format("the schedule is for kernel '{}', not '{}'", schedule_.kernel, problem_.kernel);
      if (!other_ops)
        warn("/kernel", std::move(message));
      else
        log_.faults.insert(log_.faults.begin(), {log_.file, "/kernel", std::move(message), {}});
    }
    if (schedule_.machine != problem_.machine && !schedule_.machine.empty())
      warn("/machine", fmt::format("the schedule is for machine '{}', not '{}'", schedule_.machine, problem_.machine));
    if (!changes_.empty() && changes_ != problem_.changes)
      warn("/changes", fmt::format("the schedule is for changed numbers: {}", list_of(changes_)), "give them with --set");
    for (const auto& [name, value] : schedule_.params) {
      const auto it = problem_.params.find(name);
      const std::string pointer = pointer_to("/params", name);
      if (it == problem_.params.end())
        warn(pointer, fmt::format("the kernel has no parameter '{}'", name));
      else if (it->second != value)
        warn(pointer, fmt::format("the schedule is for {} = {}, the problem has {}", name, value, it->second));
    }
  }

  const Problem& problem_;
  ObjectReader& root_;
  ReadLog& log_;
  Schedule& schedule_;
  std::vector<std::optional<Cursor>> group_ops_;
  std::vector<bool> placed_;
  std::vector<std::string> changes_;  ///< of numbers, that it was made for
};

auto schedule_reader(const Problem& problem) {
  return [&problem](ObjectReader& root, Schedule& schedule) {
    ScheduleHead head = read_head(root);
    schedule.name = std::move(head.name);
    schedule.kernel = std::move(head.kernel);
    schedule.machine = std::move(head.machine);
    schedule.params = std::move(head.params);
    ScheduleReader(problem, root, schedule).run();
  };
}

/// Every rule that a reader forgets ends here: a schedule without form is a fault of its file.
template <class Report>
bool has_form(const Problem& problem, const Schedule& schedule, Report report) {
  const std::vector<Violation> violations = form_violations(problem, schedule);
  for (const Violation& violation : violations) report(violation.message);
  return violations.empty();
}

Json certificate_json(const Certificate& c) {
  Json item = Json::object();
  item.set("status", to_string(c.status)).set("ii", c.ii).set("lower_bound", c.lower_bound).set("reason", to_string(c.reason));
  if (c.bound_stages) item.set("bound_stages", *c.bound_stages);
  item.set("explanation", c.explanation).set("objectives", objectives_json(c.objectives)).set("solver", c.solver);
  item.set("seed", c.seed).set("seconds", c.seconds).set("problem_hash", c.problem_hash).set("checked", c.checked);
  return item;
}

}  // namespace

Result<ScheduleHead> parse_schedule_head(std::string_view text, const std::string& file_name) {
  return read_document<ScheduleHead>(text, file_name, kScheduleSchema, nullptr,
                                     [](ObjectReader& root, ScheduleHead& head) { head = read_head(root); });
}

Result<Schedule> with_form(Result<Schedule> schedule, const std::string& file, const Problem& problem) {
  Error error;
  if (!schedule || has_form(problem, *schedule, [&](const std::string& message) { error.faults.push_back({file, {}, message, {}}); }))
    return schedule;
  cut_off(error.faults, "faults");
  return error;
}

Result<Schedule> parse_schedule(std::string_view text, const std::string& file_name, const Problem& problem, std::vector<Fault>* warnings) {
  return with_form(read_document<Schedule>(text, file_name, kScheduleSchema, warnings, schedule_reader(problem)), file_name, problem);
}

void read_schedule_from(const Cursor& at, const Problem& problem, Schedule& schedule) {
  const std::size_t faults = at.log().faults.size();
  {
    ObjectReader root(at);
    if (check_schema(root, kScheduleSchema)) schedule_reader(problem)(root, schedule);
  }
  if (at.log().faults.size() == faults) has_form(problem, schedule, [&](const std::string& message) { at.fault(message); });
}

Scope read_params_from(ObjectReader& root) { return read_params(root); }

std::vector<ObjectiveValue> read_objectives_from(ObjectReader& root) { return read_objectives(root); }

Json schedule_json(const Problem& problem, const Schedule& schedule) {
  Json root = Json::object();
  root.set("schema", kScheduleSchema).set("name", schedule.name);
  root.set("kernel", schedule.kernel.empty() ? problem.kernel : schedule.kernel);
  root.set("machine", schedule.machine.empty() ? problem.machine : schedule.machine);
  root.set("params", params_json(schedule.params.empty() ? problem.params : schedule.params)).set("ii", schedule.ii);
  if (!problem.changes.empty()) root.set("changes", names_json(problem.changes));
  root.set("groups", groups_json(problem, schedule)).set("ops", placements_json(problem, schedule));
  root.set("channels", channels_json(problem, schedule));
  const Provenance& from = schedule.provenance;
  root.set("provenance", Json::object().set("kind", from.kind).set("author", from.author).set("note", from.note));
  if (const auto& said = schedule.certificate ? schedule.certificate : schedule.claim) root.set("certificate", certificate_json(*said));
  return root;
}

std::string schedule_text(const Problem& problem, const Schedule& schedule, std::string_view original) {
  return document_text<Schedule>(schedule_json(problem, schedule), original, kScheduleSchema, schedule_reader(problem));
}

Json groups_json(const Problem& problem, const Schedule& schedule) {
  Json list = Json::array();
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    const ScheduleGroup& group = schedule.groups[g];
    Json ops = Json::array();
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      if (schedule.ops[v].group == GroupId(g)) ops.push(problem.ops[v].name);
    Json item = Json::object();
    item.set("id", g).set("role", group.role).set("warps", group.warps).set("registers", group.registers);
    list.push(std::move(item.set("ops", std::move(ops))));
  }
  return list;
}

Json placements_json(const Problem& problem, const Schedule& schedule) {
  Json list = Json::array();
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const OpId op(v);
    Json item = Json::object();
    item.set("id", problem.ops[v].name).set("start", schedule.start(op)).set("stage", schedule.start(op) / schedule.ii);
    list.push(std::move(item.set("slot", schedule.slot(op)).set("group", schedule.group(op).index())));
  }
  return list;
}

Json channels_json(const Problem& problem, const Schedule& schedule) {
  Json list = Json::array();
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    if (schedule.depths[c] > 0 || !problem.channels[c].only_if_crossing)
      list.push(Json::object().set("value", problem.channels[c].name).set("depth", schedule.depths[c]));
  return list;
}

Json objectives_json(const std::vector<ObjectiveValue>& objectives) {
  Json list = Json::array();
  for (const ObjectiveValue& o : objectives) list.push(Json::object().set("name", o.name).set("value", o.value).set("proved", o.proved));
  return list;
}

Json params_json(const Scope& params) {
  Json object = Json::object();
  for (const auto& [name, value] : params) object.set(name, value);
  return object;
}

}  // namespace heddle
