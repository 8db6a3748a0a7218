#include "core/library/project_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/base/atomic_file.h"
#include "core/base/hash.h"
#include "core/base/json_reader.h"
#include "core/base/words.h"
#include "core/formats/changes_json.h"
#include "core/formats/choices_json.h"
#include "core/formats/constraints_json.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/schedule_json.h"
#include "core/formats/schema.h"
#include "core/kernel/subtile.h"
#include "core/kernel/switches.h"
#include "core/library/library.h"
#include "core/schedule/question.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProjectSchema = "heddle.project/1";
constexpr std::int64_t kMostIterations = 64;

// --- names and paths

bool is_path(const std::string& source) {
  const std::string whole = split_cuts(source).kernel;
  return whole.find('/') != std::string::npos || whole.ends_with(".json");
}

/// How a file is named in a project: a shipped name, or a path that can be told from one.
std::string source_of(Shelf shelf, const std::string& file, const std::string& folder) {
  const std::string name = name_in_library(shelf, file);
  if (name != file) return name;
  std::error_code code;
  const fs::path whole = fs::absolute(file, code).lexically_normal();
  if (folder.empty()) return whole.string();
  const fs::path near = whole.lexically_relative(fs::absolute(folder, code).lexically_normal());
  if (near.empty()) return whole.string();
  return is_path(near.string()) ? near.string() : "./" + near.string();
}

std::string found_at(const std::string& source, const std::string& folder) {
  if (!is_path(source) || fs::path(source).is_absolute() || folder.empty()) return source;
  return (fs::path(folder) / source).lexically_normal().string();
}

std::string digest(const Kernel& kernel) { return Hash().add(kernel_text(kernel)).hex(); }
std::string digest(const Machine& machine) { return Hash().add(machine_text(machine)).hex(); }

// --- reading

void warn(ReadLog& log, const std::string& pointer, std::string message, std::string hint = {}) {
  log.warnings.push_back({log.file, pointer, std::move(message), std::move(hint)});
}

struct SourceMember {
  const char* key = "";  ///< the member that names it
  std::string name{}, hash{};
  ProjectText own{};
};

SourceMember read_source(ObjectReader& root, const char* key) {
  SourceMember source{key};
  if (const auto at = root.require(key)) {
    ObjectReader object(*at);
    source.name = object.label("source");
    source.hash = object.string("hash");
    source.own = {object.string("text"), object.string("draft")};
  }
  return source;
}

/// How a thing is read, and which member of it says from where.
template <class T>
struct FileReader {
  Result<T> (*load)(const std::string&, std::vector<Fault>*);
  Result<T> (*parse)(std::string_view, const std::string&, std::vector<Fault>*);
  std::string T::*place;
};

/// The thing itself; what is wrong with its file is a fault of the project too.
template <class T>
std::shared_ptr<const T> load(const SourceMember& source, const std::string& folder, const FileReader<T>& as, ReadLog& log) {
  if (source.name.empty()) return nullptr;  // said already
  std::vector<Fault> warnings;
  const bool own = !source.own.text.empty();
  Result<T> loaded = own ? as.parse(source.own.text, {}, &warnings) : as.load(found_at(source.name, folder), &warnings);
  if (loaded && own) (*loaded).*as.place = is_path(source.name) ? found_at(source.name, folder) : std::string();
  if (!loaded) {
    for (Fault fault : loaded.error().faults) {
      if (own && !fault.pointer.empty()) fault.message = fault.pointer + " of its text: " + fault.message;
      if (fault.file.empty()) fault.file = log.file, fault.pointer = pointer_to(std::string("/") + source.key, own ? "text" : "source");
      log.faults.push_back(std::move(fault));
    }
    return nullptr;
  }
  if (!source.hash.empty() && source.hash != digest(*loaded))
    warn(log, std::string("/") + source.key, fmt::format("{} has changed since the project was saved", source.name));
  return std::make_shared<const T>(*std::move(loaded));
}

/// What the project says was proved becomes what its schedule claims: about this question, or about none.
void claim(ProjectSchedule& entry, const std::string& question) {
  const bool claims = entry.status == Status::Optimal || entry.lower_bound;
  if (claims && !question.empty()) {
    // What the schedule itself says of solver and seed stays; the project knows more about the rest.
    if (!entry.schedule.claim) entry.schedule.claim.emplace();
    Certificate& c = *entry.schedule.claim;
    c.status = entry.status == Status::Optimal ? Status::Optimal : Status::Feasible;
    c.ii = entry.schedule.ii;
    c.lower_bound = entry.lower_bound.value_or(entry.status == Status::Optimal ? c.ii : 0);
    c.explanation = entry.explanation;
    c.objectives = entry.objectives;
    c.seconds = entry.seconds;
    c.problem_hash = question;
  } else if (question.empty()) {
    entry.schedule.claim.reset();
  }
  entry.status = Status::Feasible;
  entry.lower_bound.reset();
  entry.explanation.clear();
  entry.objectives.clear();
}

/// `question`: the digest of what the project's schedules are for; empty when the file is about another problem.
ProjectSchedule read_entry(const Cursor& at, const Problem& problem, const std::string& folder, const std::string& question) {
  ObjectReader object(at);
  ProjectSchedule entry;
  entry.name = object.label("name");
  if (const auto status = object.find("status"))
    entry.status =
        status->word("status", words_up_to(Status::Invalid), [](std::string_view word) { return parse_word(word, Status::Invalid); })
            .value_or(Status::Unknown);
  if (object.find("lower_bound")) entry.lower_bound = object.integer("lower_bound", 0, kLargestNumber, 0);
  entry.explanation = object.string("explanation");
  entry.objectives = read_objectives_from(object);
  if (const auto seconds = object.find("seconds")) entry.seconds = seconds->real().value_or(0);
  entry.file = object.string("file");
  if (!entry.file.empty()) entry.file = found_at(entry.file, folder);
  if (const auto schedule = object.require("schedule")) read_schedule_from(*schedule, problem, entry.schedule);
  claim(entry, question);
  return entry;
}

std::optional<std::size_t> read_slot(ObjectReader& root, const char* key, std::size_t schedules) {
  const auto at = root.find(key);
  if (!at || at->json().is_null()) return std::nullopt;
  if (schedules == 0) {
    at->fault("there are no schedules");
    return std::nullopt;
  }
  const auto index = at->integer(0, static_cast<std::int64_t>(schedules) - 1);
  return index ? std::optional(static_cast<std::size_t>(*index)) : std::nullopt;
}

ProjectNote read_note(const Cursor& at) {
  ObjectReader object(at);
  ProjectNote note;
  if (const auto text = object.require("text")) note.text = text->string().value_or("");
  if (const auto op = object.find("op")) note.op = op->name().value_or("");
  note.at = object.integer("at", -kLargestNumber, kLargestNumber, 0);
  return note;
}

ProjectView read_view(const Cursor& at) {
  ObjectReader object(at);
  ProjectView view;
  if (const auto mode = object.find("mode"))
    view.mode =
        mode->word("mode", words_up_to(GanttMode::Contended), [](std::string_view word) { return parse_word(word, GanttMode::Contended); })
            .value_or(GanttMode::Steady);
  if (object.find("iterations")) view.iterations = static_cast<int>(object.integer("iterations", 1, kMostIterations, 3));
  view.tab = object.string("tab");
  if (object.find("begin") && object.find("end")) {
    const Cycle begin = object.integer("begin", -kLargestNumber, kLargestNumber, 0),
                end = object.integer("end", -kLargestNumber, kLargestNumber, 0);
    if (begin < end) view.visible = {begin, end};
  }
  const auto each = [&](const char* key, const auto& use) {
    const auto found = object.find(key);
    if (!found) return;
    const Json::Object* members = found->json().members();
    if (!members) return found->fault("expected an object, found " + describe(found->json()));
    for (const JsonMember& member : *members) use(member.key, Cursor(member.value, pointer_to(found->pointer(), member.key), found->log()));
  };
  each("switches", [&](const std::string& key, const Cursor& value) {
    if (const auto on = value.boolean()) view.switches[key] = *on;
  });
  each("choices", [&](const std::string& key, const Cursor& value) {
    if (const auto word = value.label()) view.choices[key] = *word;
  });
  return view;
}

/// Ops that the problem does not have are left out: a note or a selection is not worth refusing a project for.
bool known_op(const Problem& problem, const std::string& op, ReadLog& log, const std::string& pointer) {
  if (problem.find_op(op).valid()) return true;
  warn(log, pointer, fmt::format("no op '{}' in the loop body of {}; left out", op, problem.kernel),
       did_you_mean(op, names_of(problem.ops)));
  return false;
}

void read_work(ObjectReader& root, Project& project, const std::string& folder, const std::string& hash) {
  ReadLog& log = root.cursor().log();
  const Problem& problem = *project.problem;
  const bool same = hash == problem_hash(problem);
  if (!same)
    warn(log, "/problem_hash",
         hash.empty() ? "the project does not say which problem it is about, so what it says was proved is ignored"
                      : "the problem is not the one that was saved, so nothing is known to be optimal any more",
         "solve again");
  project.constraints = read_constraints_from(root, problem);
  const std::string question = question_hash(problem, project.constraints);
  for (const Cursor& item : root.list("schedules")) project.schedules.push_back(read_entry(item, problem, folder, same ? question : ""));
  project.shown = read_slot(root, "a", project.schedules.size());
  project.baseline = read_slot(root, "b", project.schedules.size());
  if (project.baseline == project.shown) project.baseline.reset();
  if (!project.shown && !project.schedules.empty()) project.shown = 0;
  for (const Cursor& item : root.list("notes")) {
    ProjectNote note = read_note(item);
    if (note.op.empty() || known_op(problem, note.op, log, item.pointer())) project.notes.push_back(std::move(note));
  }
  for (const Cursor& item : root.list("flags"))
    if (const auto at = item.integer(-kLargestNumber, kLargestNumber)) project.flags.push_back(*at);
  for (const Cursor& item : root.list("selection"))
    if (const auto op = item.name(); op && known_op(problem, *op, log, item.pointer())) project.selection.push_back(*op);
  if (const auto view = root.find("view")) project.view = read_view(*view);
}

auto project_reader(const std::string& folder) {
  return [&folder](ObjectReader& root, Project& project) {
    ReadLog& log = root.cursor().log();
    const SourceMember kernel = read_source(root, "kernel"), machine = read_source(root, "machine");
    project.spec.kernel = load<Kernel>(kernel, folder, {load_kernel, parse_kernel, &Kernel::source}, log);
    project.spec.machine = load<Machine>(machine, folder, {load_machine, parse_machine, &Machine::file}, log);
    project.kernel_text = kernel.own;
    project.machine_text = machine.own;
    const std::string hash = root.string("problem_hash");
    project.unsaved_of = root.string("unsaved_of");
    project.spec.params = read_params_from(root);
    project.spec.changes = read_changes_from(root);
    project.spec.choices = read_choices_from(root);
    if (project.spec.kernel)
      if (auto kernel = settled(project.spec.kernel, project.spec.params)) project.spec.kernel = *std::move(kernel);
    if (project.spec.kernel && project.spec.machine) {
      const std::size_t faults = log.faults.size();
      Result<Problem> problem = make_problem(project.spec);
      if (!problem && log.faults.size() == faults)
        for (Fault fault : problem.error().faults) {
          if (fault.file.empty()) fault.file = log.file;  // of choices, which stand here
          log.faults.push_back(std::move(fault));
        }
      if (problem) {
        project.problem = std::make_shared<const Problem>(*std::move(problem));
        return read_work(root, project, folder, hash);
      }
    }
    // The rest can only be judged against a problem.
    for (const char* key : {"constraints", "schedules", "a", "b", "notes", "flags", "selection", "view"}) root.find(key);
  };
}

// --- writing

Json source_json(const std::string& name, const std::string& hash, const ProjectText& own) {
  Json source = Json::object().set("source", name).set("hash", hash);
  if (!own.text.empty()) source.set("text", own.text);
  if (!own.draft.empty()) source.set("draft", own.draft);
  return source;
}

/// What an earlier file said of it, and nothing has refuted, is said on.
ProjectSchedule with_claim(ProjectSchedule entry) {
  if (entry.lower_bound || !entry.schedule.claim) return entry;
  const Certificate& claim = *entry.schedule.claim;
  entry.status = claim.status;
  entry.lower_bound = claim.lower_bound;
  entry.explanation = claim.explanation;
  entry.objectives = claim.objectives;
  if (claim.solver.empty()) entry.schedule.claim.reset();  // it came from a project, which says it beside the schedule
  return entry;
}

Json entry_json(const Problem& problem, const ProjectSchedule& given, const std::string& folder) {
  const ProjectSchedule entry = with_claim(given);
  Json item = Json::object();
  item.set("name", entry.name).set("status", to_string(entry.status));
  if (entry.lower_bound) item.set("lower_bound", *entry.lower_bound);
  if (!entry.explanation.empty()) item.set("explanation", entry.explanation);
  if (!entry.objectives.empty()) item.set("objectives", objectives_json(entry.objectives));
  if (entry.seconds > 0) item.set("seconds", entry.seconds);
  if (!entry.file.empty()) item.set("file", source_of(Shelf::Schedules, entry.file, folder));
  return item.set("schedule", schedule_json(problem, entry.schedule));
}

Json view_json(const ProjectView& view) {
  Json item = Json::object();
  item.set("mode", to_string(view.mode));
  if (view.iterations) item.set("iterations", *view.iterations);
  if (!view.tab.empty()) item.set("tab", view.tab);
  if (view.visible) item.set("begin", view.visible->first).set("end", view.visible->second);
  Json switches = Json::object(), choices = Json::object();
  for (const auto& [key, on] : view.switches) switches.set(key, on);
  for (const auto& [key, word] : view.choices) choices.set(key, word);
  if (!view.switches.empty()) item.set("switches", std::move(switches));
  if (!view.choices.empty()) item.set("choices", std::move(choices));
  return item;
}

/// Readers tell constraints, and changes, apart by name; a window need not.
template <class Named>
std::vector<Named> with_own_names(std::vector<Named> items) {
  std::set<std::string> taken;
  for (Named& item : items) {
    const std::string name = item.name.empty() ? describe(item) : item.name;
    item.name = name;
    for (int n = 2; !taken.insert(item.name).second; ++n) item.name = fmt::format("{} ({})", name, n);
  }
  return items;
}

}  // namespace

Json project_schema() {
  using namespace schema;
  return document(kProjectSchema, "Heddle project", [](Object& root) {
    Json& shared = root.definitions();
    const Json text = type("string"), cycle = integer(-kLargestNumber, kLargestNumber), index = or_null(integer(0, kLongestList));

    Object source(shared);
    source.called("source").required("source", label(shared), "a shipped name, or a path relative to this file");
    source.optional("hash", text, "digest of what was read there");
    source.optional("text", text, "what it is, where that is written in no file").optional("draft", text, "a later text that has faults");

    Object entry(shared);
    entry.required("name", label(shared)).optional("status", words(words_up_to(Status::Invalid)));
    entry.optional("lower_bound", integer(0, kLargestNumber), "of II, proved").optional("explanation", text, "why II is not smaller");
    entry.optional("objectives", objectives_schema(shared)).optional("seconds", real());
    entry.optional("file", text, "where it was read from").required("schedule", schedule_schema(shared));

    Object note(shared);
    note.required("text", text).optional("op", name(shared)).optional("at", cycle, "where no op is named");

    Object view(shared);
    view.optional("mode", words(words_up_to(GanttMode::Contended))).optional("iterations", integer(1, kMostIterations));
    view.optional("tab", text).optional("begin", cycle).optional("end", cycle);
    view.optional("switches", type("object").set("additionalProperties", type("boolean")));
    view.optional("choices", type("object").set("additionalProperties", label(shared)));

    root.required("kernel", source.finish()).required("machine", source.finish());
    root.optional("problem_hash", text, "digest of the problem that the schedules' statements are about").optional("params", params());
    root.optional("layouts", layouts_schema(shared), "as in a schedule").optional("instructions", instructions_schema(shared));
    root.optional("changes", changes_schema(shared)).optional("constraints", constraints_list_schema(shared));
    root.optional("schedules", list(entry.finish()));
    root.optional("a", index, "the schedule that is shown").optional("b", index, "the schedule it is compared with");
    root.optional("notes", list(note.finish())).optional("flags", list(cycle)).optional("selection", list(name(shared)));
    root.optional("view", view.finish()).optional("unsaved_of", text, "only in files that keep work safe from crashes");
  });
}

Result<Project> parse_project(std::string_view text, const std::string& file_name, const std::string& folder,
                              std::vector<Fault>* warnings) {
  return read_document<Project>(text, file_name, kProjectSchema, warnings, project_reader(folder));
}

Result<Project> read_project(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  std::error_code code;
  return parse_project(*text, path, fs::absolute(path, code).parent_path().string(), warnings);
}

std::string project_text(const Project& project, const std::string& folder, std::string_view original) {
  HEDDLE_ASSERT(project.spec.kernel && project.spec.machine && project.problem, "a project has a problem");
  Json root = Json::object();
  root.set("schema", kProjectSchema);
  const Kernel& kernel = *project.spec.kernel;
  const Machine& machine = *project.spec.machine;
  // What has no file is called by its name.
  const std::string of = kernel.source.empty() ? kernel.name : source_of(Shelf::Kernels, kernel.source, folder),
                    on = machine.file.empty() ? machine.name : source_of(Shelf::Machines, machine.file, folder);
  root.set("kernel", source_json(of, digest(kernel), project.kernel_text));
  root.set("machine", source_json(on, digest(machine), project.machine_text));
  root.set("problem_hash", problem_hash(*project.problem)).set("params", params_json(project.spec.params));
  root.set("changes", changes_json(with_own_names(project.spec.changes)));
  set_choices(root, project.spec.choices);
  root.set("constraints", constraints_json(with_own_names(project.constraints)));
  Json schedules = Json::array(), notes = Json::array(), flags = Json::array();
  for (const ProjectSchedule& entry : project.schedules) schedules.push(entry_json(*project.problem, entry, folder));
  root.set("schedules", std::move(schedules));
  if (project.shown) root.set("a", *project.shown);
  if (project.baseline) root.set("b", *project.baseline);
  for (const ProjectNote& note : project.notes) {
    Json item = Json::object().set("text", note.text);
    if (note.op.empty())
      item.set("at", note.at);
    else
      item.set("op", note.op);
    notes.push(std::move(item));
  }
  for (const Cycle flag : project.flags) flags.push(flag);
  root.set("notes", std::move(notes)).set("flags", std::move(flags)).set("selection", names_json(project.selection));
  root.set("view", view_json(project.view));
  if (!project.unsaved_of.empty()) root.set("unsaved_of", project.unsaved_of);
  return document_text<Project>(std::move(root), original, kProjectSchema, project_reader(folder));
}

Result<ProjectHead> parse_project_head(std::string_view text, const std::string& file_name) {
  return read_document<ProjectHead>(text, file_name, kProjectSchema, nullptr, [](ObjectReader& root, ProjectHead& head) {
    head.kernel = read_source(root, "kernel").name;
    head.machine = read_source(root, "machine").name;
    head.schedules = root.list("schedules").size();
    head.notes = root.list("notes").size();
    head.constraints = root.list("constraints").size();
  });
}

}  // namespace heddle
