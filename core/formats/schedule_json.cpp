#include "core/formats/schedule_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/check/form.h"
#include "core/formats/choices_json.h"
#include "core/formats/members.h"

namespace heddle {
namespace {

constexpr const char* kScheduleSchema = "heddle.schedule/1";
constexpr std::int64_t kMostWarps = 1024;
constexpr std::int64_t kMostRegisters = 1 << 16;
constexpr std::int64_t kMostSlots = 1 << 20;

/// A role is a name, or nothing: a group without one is called by its number.
struct Role : as::Name {
  void read(const Cursor& at, std::string& role) const {
    if (const std::string* text = at.json().string(); text && text->empty()) return;
    as::Name::read(at, role);
  }
  Json schema(const std::string& role, Json& definitions) const {
    Json name = as::Name::schema(role, definitions);
    return Json::object().set("anyOf", Json::array().push(Json::object().set("const", "")).push(std::move(name)));
  }
};

/// Groups are numbered by their place; a written id that says something else would be misread.
struct GroupNumber {
  void read(const Cursor& at, std::int64_t& id) const { at.integer(id, id); }
  Json write(std::int64_t id) const { return id; }
  Json schema(std::int64_t, Json&) const { return schema::integer(0, kLongestList); }
};

struct GroupLine {
  std::int64_t id = 0;
  ScheduleGroup group{};
  std::vector<std::string> ops{};
};

struct OpLine {
  std::string id;
  std::optional<Cycle> start{}, stage{}, slot{};
  std::optional<std::int64_t> group{};
  std::int64_t groups = kLongestList;  ///< that there are
};

struct ChannelLine {
  std::string value;
  std::int64_t depth = 0;
};

struct ScheduleFile {
  ScheduleHead head;
  Cycle ii = 1;
  std::vector<std::string> changes{};  ///< of numbers, that it was made for
  std::vector<GroupLine> groups{};
  std::vector<OpLine> ops{};
  std::vector<ChannelLine> channels{};
  bool turns = true;
  Provenance provenance{};
  std::optional<Certificate> certificate{};
};

template <class Io>
void visit(Io& io, GroupLine& l) {
  io.always("id", l.id, GroupNumber{}, "its place in this list");
  io.always("role", l.group.role, Role{});
  io.required("warps", l.group.warps, as::integer(0, kMostWarps));
  io.always("registers", l.group.registers, as::integer(0, kMostRegisters), "budget per thread; 0: not decided");
  io.always("ops", l.ops, as::left_to_code(as::list(as::name)), "redundant: the ops placed in this group");
}

template <class Io>
void visit(Io& io, OpLine& l) {
  io.required("id", l.id, as::name, "name of an op of the loop body");
  io.required("start", l.start, as::count, "stage * II + slot");
  io.always("stage", l.stage, as::count, "redundant: start / II");
  io.always("slot", l.slot, as::count, "redundant: start % II");
  io.required("group", l.group, as::integer(0, l.groups - 1));
}

template <class Io>
void visit(Io& io, ChannelLine& l) {
  io.required("value", l.value, as::name);
  io.required("depth", l.depth, as::integer(0, kMostSlots));
}

}  // namespace

template <class Io>
void visit(Io& io, ObjectiveValue& o) {
  io.part("objective");
  io.required("name", o.name, as::label);
  io.required("value", o.value, as::any_integer);
  io.always("proved", o.proved);
}

template <class Io>
void visit(Io& io, Provenance& p) {
  io.required("kind", p.kind, as::label, "solver, hand, baseline, imported or edited");
  io.always("author", p.author);
  io.always("note", p.note);
}

template <class Io>
void visit(Io& io, PeriodProof& p) {
  io.part("period", "What is known of the program's period in the machine's model with contention.");
  io.required("standing", p.standing, as::word("standing", PeriodStanding::ByPrediction), "compared with which other programs");
  io.required("period", p.period, as::integer(1, kLargestNumber), "1/256 cycles for so many iterations");
  io.always("iterations", p.iterations, as::integer(1, 1 << 20));
  io.always("bound", p.bound, as::count, "1/256 cycles an iteration; no program is below; 0: no bound");
  io.always("groups", p.groups, as::integer(0, kLongestList), "of all programs compared: their warp groups but the producer");
  io.always("stages", p.stages, as::integer(0, 1 << 20), "of all programs compared: at most so many");
  io.always("registers", p.registers, as::integer(0, kMostRegisters), "of all programs compared: per thread, at most so many");
  io.always("orders", p.orders, as::count, "orders of a group's ops that fit");
  io.always("programs", p.programs, as::count, "that were compared");
  io.always("digest", p.digest, "of the programs compared");
  io.always("numbers", p.numbers, "digest of the contention and of the work of ops that it was computed with");
}

template <class Io>
void visit(Io& io, Certificate& c) {
  io.part("", "What was proved; void for any other problem or II.");
  io.required("status", c.status, as::word("status", Status::Invalid));
  io.required("ii", c.ii, as::count);
  io.always("lower_bound", c.lower_bound, as::count);
  io.always("reason", c.reason, as::word("reason", BoundReason::Requested));
  io.optional("bound_stages", c.bound_stages, as::integer(1, 1 << 20),
              "lower_bound speaks of schedules of at most so many stages; absent: of all");
  io.always("explanation", c.explanation);
  io.always("objectives", c.objectives);
  io.always("solver", c.solver);
  io.always("seed", c.seed, as::seed);
  io.always("seconds", c.seconds, as::real);
  io.always("problem_hash", c.problem_hash);
  io.always("checked", c.checked);
  io.optional("period", c.period, as::part);
}

template <class Io>
void visit(Io& io, ScheduleHead& h) {
  io.always("name", h.name);
  io.required("kernel", h.kernel, as::label);
  io.required("machine", h.machine, as::label);
  io.always("params", h.params);
  io.optional("layouts", h.layouts.layouts, as::layout_texts, "how values lie; absent: as by default");
  io.optional("instructions", h.layouts.instructions, as::instruction_names,
              "in which instructions of the machine's catalogue ops are written; absent: as by default");
}

namespace {

template <class Io>
void visit(Io& io, ScheduleFile& f) {
  heddle::visit(io, f.head);
  io.required("ii", f.ii, as::integer(1, kLargestNumber), "initiation interval in cycles");
  io.optional("changes", f.changes, "numbers of kernel and machine that were changed when it was made");
  io.required("groups", f.groups, as::left_to_code(as::list(as::part, 1)), "warp groups");
  io.required("ops", f.ops, as::left_to_code(as::list(as::part)));
  io.always("channels", f.channels, as::left_to_code(as::list(as::part)),
            "slots of every ring buffer; channels of register values that stay in one group are left out");
  io.unless(f.turns, "turns", f.turns, "false: no barriers keep the order of groups on the tensor cores");
  io.always("provenance", f.provenance);
  io.optional("certificate", f.certificate, as::or_null(as::part));
}

/// Judges what the members say against the problem, and indexes it likewise.
class ScheduleReader {
 public:
  ScheduleReader(const Problem& problem, ObjectReader& root, Schedule& schedule)
      : problem_(problem), root_(root), log_(root.cursor().log()), schedule_(schedule) {}

  void run() {
    read_members(root_, file_);
    schedule_.name = std::move(file_.head.name);
    schedule_.kernel = std::move(file_.head.kernel);
    schedule_.machine = std::move(file_.head.machine);
    schedule_.params = std::move(file_.head.params);
    schedule_.layouts = std::move(file_.head.layouts);
    schedule_.ii = file_.ii;
    schedule_.turns = file_.turns;
    schedule_.provenance = std::move(file_.provenance);
    groups();
    const std::size_t before = log_.faults.size();
    placements();
    const bool other_ops = log_.faults.size() > before;
    group_lists();
    channels();
    certificate();
    compare_with_problem(other_ops);
  }

 private:
  void warn(const std::string& pointer, std::string message, std::string hint = {}, const char* part = "") {
    log_.warnings.push_back({log_.file, pointer, std::move(message), std::move(hint), part});
  }

  void groups() {
    const auto list = root_.find("groups");
    if (!list) return;
    if (list->json().is_array() && list->json().items()->empty()) list->fault("expected at least one warp group");
    for (const Cursor& item : list->items()) {
      ObjectReader object(item);
      GroupLine line;
      line.id = static_cast<std::int64_t>(schedule_.groups.size());
      read_members(object, line);
      schedule_.groups.push_back(std::move(line.group));
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
    const auto list = root_.find("ops");
    if (!list) return;
    for (const Cursor& item : list->items()) placement(item);
    for (std::size_t v = 0; v < problem_.ops.size(); ++v)
      if (!placed_[v] && list->json().is_array()) list->fault(fmt::format("op '{}' has no placement", problem_.ops[v].name));
  }

  void placement(const Cursor& item) {
    ObjectReader object(item);
    OpLine line;
    if (!schedule_.groups.empty()) line.groups = static_cast<std::int64_t>(schedule_.groups.size());
    read_members(object, line);
    const auto id = object.find("id");
    const OpId op = id ? op_at(*id, line.id) : OpId{};
    Placement place;
    place.start = line.start.value_or(0);
    if (line.group && !schedule_.groups.empty()) place.group = GroupId(static_cast<std::size_t>(*line.group));
    if (line.start) {
      redundant(object, "stage", line.stage, place.start / schedule_.ii, place.start);
      redundant(object, "slot", line.slot, place.start % schedule_.ii, place.start);
    }
    if (!op.valid()) return;
    if (placed_[op.index()]) return id->fault(fmt::format("op '{}' is placed twice", problem_.op(op).name));
    placed_[op.index()] = true;
    schedule_.ops[op.index()] = place;
  }

  void redundant(ObjectReader& object, const char* key, std::optional<Cycle> found, Cycle expected, Cycle start) {
    if (found && *found != expected)
      object.find(key)->fault(
          fmt::format("{} {} contradicts start {} with II {}, which is {} {}", key, *found, start, schedule_.ii, key, expected),
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
      ChannelLine line;
      read_members(object, line);
      const std::string& name = line.value;
      const auto value = object.find("value");
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
        depths[*channel] = static_cast<int>(line.depth);
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
  void certificate() {
    if (!file_.certificate) return;
    const std::string at = pointer_to(root_.cursor().pointer(), "certificate");
    if (file_.certificate->problem_hash.empty())
      warn(at, "the certificate does not say which problem it is about and is ignored", "solve again to certify this schedule");
    else if (file_.certificate->ii != schedule_.ii)
      warn(at, fmt::format("the certificate is for II {}, the schedule has II {}; it is ignored", file_.certificate->ii, schedule_.ii));
    else
      schedule_.claim = std::move(file_.certificate);
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
    if (!file_.changes.empty() && file_.changes != problem_.changes)
      warn("/changes", fmt::format("the schedule is for changed numbers: {}", list_of(file_.changes)), {}, "other changes");
    if (const LayoutChoices& ours = choices_of(problem_); schedule_.layouts != ours)
      warn(schedule_.layouts.layouts == ours.layouts ? "/instructions" : "/layouts",
           fmt::format("the schedule is for layouts and instructions {}, the problem has {}", choices_text(schedule_.layouts),
                       choices_text(ours)),
           {}, "other layouts");
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
  ScheduleFile file_;
  std::vector<std::optional<Cursor>> group_ops_;
  std::vector<bool> placed_;
};

auto schedule_reader(const Problem& problem) {
  return [&problem](ObjectReader& root, Schedule& schedule) { ScheduleReader(problem, root, schedule).run(); };
}

/// Every rule that a reader forgets ends here: a schedule without form is a fault of its file.
template <class Report>
bool has_form(const Problem& problem, const Schedule& schedule, Report report) {
  const std::vector<Violation> violations = form_violations(problem, schedule);
  for (const Violation& violation : violations) report(violation.message);
  return violations.empty();
}

std::vector<GroupLine> group_lines(const Problem& problem, const Schedule& schedule) {
  std::vector<GroupLine> lines;
  for (const ScheduleGroup& group : schedule.groups) lines.push_back({static_cast<std::int64_t>(lines.size()), group, {}});
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (const GroupId group = schedule.ops[v].group; group.valid() && group.index() < lines.size())
      lines[group.index()].ops.push_back(problem.ops[v].name);
  return lines;
}

std::vector<OpLine> op_lines(const Problem& problem, const Schedule& schedule) {
  std::vector<OpLine> lines;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const OpId op(v);
    const Cycle start = schedule.start(op);
    lines.push_back({problem.ops[v].name, start, start / schedule.ii, schedule.slot(op), schedule.group(op).index()});
  }
  return lines;
}

std::vector<ChannelLine> channel_lines(const Problem& problem, const Schedule& schedule) {
  std::vector<ChannelLine> lines;
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    if (schedule.depths[c] > 0 || !problem.channels[c].only_if_crossing) lines.push_back({problem.channels[c].name, schedule.depths[c]});
  return lines;
}

template <class T>
Json list_json(const std::vector<T>& list) {
  return as::usual<std::vector<T>>().write(list);
}

template <class T>
Json list_schema(Json& definitions) {
  return as::usual<std::vector<T>>().schema(std::vector<T>(), definitions);
}

}  // namespace

Result<ScheduleHead> parse_schedule_head(std::string_view text, const std::string& file_name) {
  return read_document<ScheduleHead>(text, file_name, kScheduleSchema, nullptr, read_members<ScheduleHead>);
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

Json schedule_schema() { return document_schema<ScheduleFile>(kScheduleSchema, "Heddle schedule"); }

Json schedule_schema(Json& definitions) { return inner_schema<ScheduleFile>(kScheduleSchema, "schedule", definitions); }
Json objectives_schema(Json& definitions) { return list_schema<ObjectiveValue>(definitions); }
Json groups_schema(Json& definitions) { return list_schema<GroupLine>(definitions); }
Json placements_schema(Json& definitions) { return list_schema<OpLine>(definitions); }
Json channels_schema(Json& definitions) { return list_schema<ChannelLine>(definitions); }

Scope read_params_from(ObjectReader& root) {
  Scope params;
  if (const auto at = root.find("params")) as::Params{}.read(*at, params);
  return params;
}

std::vector<ObjectiveValue> read_objectives_from(ObjectReader& root) {
  std::vector<ObjectiveValue> objectives;
  if (const auto at = root.find("objectives")) as::usual<std::vector<ObjectiveValue>>().read(*at, objectives);
  return objectives;
}

Json schedule_json(const Problem& problem, const Schedule& schedule) {
  ScheduleFile file;
  file.head = {schedule.name, schedule.kernel.empty() ? problem.kernel : schedule.kernel,
               schedule.machine.empty() ? problem.machine : schedule.machine, schedule.params.empty() ? problem.params : schedule.params,
               schedule.layouts.empty() ? choices_of(problem) : schedule.layouts};
  file.ii = schedule.ii;
  file.changes = problem.changes;
  file.groups = group_lines(problem, schedule);
  file.ops = op_lines(problem, schedule);
  file.channels = channel_lines(problem, schedule);
  file.turns = schedule.turns;
  file.provenance = schedule.provenance;
  file.certificate = schedule.certificate ? schedule.certificate : schedule.claim;
  return document_json(kScheduleSchema, file);
}

std::string schedule_text(const Problem& problem, const Schedule& schedule, std::string_view original) {
  return document_text<Schedule>(schedule_json(problem, schedule), original, kScheduleSchema, schedule_reader(problem));
}

Json groups_json(const Problem& problem, const Schedule& schedule) { return list_json(group_lines(problem, schedule)); }
Json placements_json(const Problem& problem, const Schedule& schedule) { return list_json(op_lines(problem, schedule)); }
Json channels_json(const Problem& problem, const Schedule& schedule) { return list_json(channel_lines(problem, schedule)); }
Json objectives_json(const std::vector<ObjectiveValue>& objectives) { return list_json(objectives); }
Json names_json(const std::vector<std::string>& names) { return list_json(names); }
Json params_json(const Scope& params) { return as::Params{}.write(params); }

}  // namespace heddle
