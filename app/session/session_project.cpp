// Projects: opened as a step of undo, saved, kept safe from crashes; notes' neighbours, the flags.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "app/jobs/judge_claim.h"
#include "app/session/dump_source.h"
#include "app/session/files.h"
#include "app/session/session_core.h"
#include "app/session/triton_source.h"
#include "core/base/atomic_file.h"
#include "core/formats/constraints_json.h"
#include "core/library/source.h"

namespace heddle::app {

namespace fs = std::filesystem;

const std::string& Session::project_file() const {
  static const std::string none;
  const auto place = core_->document_.places.find(content().document);
  return place == core_->document_.places.end() ? none : place->second.path;
}

bool Session::unsaved() const {
  const auto place = core_->document_.places.find(content().document);
  if (place == core_->document_.places.end() || !place->second.saved) return content().problem && has_work(content());
  return differs(*place->second.saved, content());
}

const std::string& Session::project_as_shown() const {
  static const std::string none;
  const auto place = core_->document_.places.find(content().document);
  if (place == core_->document_.places.end() || !place->second.saved || unsaved()) return none;
  const Content& saved = *place->second.saved;
  return saved.shown == content().shown && saved.baseline == content().baseline ? place->second.path : none;
}

bool Session::worth_asking() const {
  return !unfinished_search().empty() || (unsaved() && (has_own_work(content()) || !project_file().empty()));
}

std::string Session::unfinished_search() const {
  if (!content().problem) return {};
  const double running = live().active() ? core_->work_.spent_before + live().seconds : 0;
  const auto sentence = [&](double seconds, Cycle ii, Cycle bound) {
    return fmt::format("The search for {} has not proved its II after {:.0f} s: {}, no II below {}.", content().kernel->name, seconds,
                       ii > 0 ? fmt::format("II {}", ii) : "no schedule yet", bound);
  };
  if (running >= kSoon) return sentence(running, live().best.value_or(0), live().lower_bound);
  if (!unsaved()) return {};
  for (const EntryPtr& entry : content().schedules)
    if (is_unfinished(*entry) && entry->seconds >= kSoon)
      return sentence(entry->seconds, entry->schedule.ii, entry->lower_bound.value_or(content().bounds->min_ii()));
  return {};
}

std::string Session::why_no_save() const {
  if (!content().kernel) return "nothing is open";
  if (!content().machine) return "a project needs a machine too";
  if (!content().problem) return content().kernel->name + " cannot be scheduled on " + content().machine->name;
  return {};
}

namespace {

void judge_claims(Project& project, const std::string& file, std::vector<Fault>& warnings) {
  if (!project.problem) return;
  for (ProjectSchedule& entry : project.schedules) judge_claim(*project.problem, project.constraints, entry.schedule, file, &warnings);
}

}  // namespace

void SessionCore::on(const OpenProject& c) {
  std::vector<Fault> warnings;
  auto project = read_project(c.path, &warnings);
  if (!project) return fail("Cannot open project " + base_name(c.path), project.error());
  std::error_code code;
  const std::string path = fs::absolute(c.path, code).string();
  remember_recent(settings_, path);
  judge_claims(*project, c.path, warnings);
  take_project(*std::move(project), path, "open project " + base_name(c.path));
  recall_proofs();
  document_.places[document_.content.document].saved = document_.content;
  warn_aloud(warnings);
}

void SessionCore::take_project(Project project, const std::string& path, const std::string& what) {
  Content next;
  next.kernel = project.spec.kernel;
  next.machine = project.spec.machine;
  if (project.spec.kernel && project.spec.machine && project.spec.kernel->source == project.spec.machine->file)
    if (auto source = read_dump_source(project.spec.kernel->source)) next.dump = std::make_shared<const DumpSource>(*std::move(source));
  if (project.spec.kernel && project.kernel_text.text.empty() && compilers_kind(project.spec.kernel->source) == SourceKind::Triton)
    if (auto source = read_triton_source(project.spec.kernel->source); source && source->kernel) {
      next.kernel = source->kernel;
      next.triton = std::make_shared<const TritonSource>(*std::move(source));
    }
  const auto own = [](const ProjectText& kept, const std::string& file) -> std::shared_ptr<const SourceText> {
    return kept.text.empty() ? nullptr : std::make_shared<const SourceText>(SourceText{kept.text, file, {}, true});
  };
  if (project.spec.kernel) next.kernel_text = own(project.kernel_text, project.spec.kernel->source);
  if (project.spec.machine) next.machine_text = own(project.machine_text, project.spec.machine->file);
  next.overrides = project.spec.params;
  next.changes = project.spec.changes;
  next.choices = project.spec.choices;
  next.constraints = project.constraints;
  for (const ProjectNote& note : project.notes) next.notes.push_back({note.text, note.op, note.at});
  next.flags = project.flags;
  next.kernel_options = options_from(project.view.choices);
  adopt(std::move(next), what);
  if (!document_.content.problem) return;
  document_.places[document_.content.document] = {path, std::nullopt};
  if (const auto& triton = document_.content.triton)
    document_.content.given = std::make_shared<const Constraints>(rules_of(*triton, document_.content.problem.get()));
  document_.content.schedules = to_entries(project, *document_.content.problem);
  for (EntryPtr& entry : document_.content.schedules)
    if (document_.content.triton && entry->file.empty() && entry->name == row_name(triton::Whose::Tritons)) {
      ScheduleEntry tritons = *entry;
      tritons.status = Status::Feasible;
      tritons.unbound = document_.content.given;
      entry = make_entry(*document_.content.problem, document_.content.constraints, std::move(tritons));
    }
  document_.content.shown = project.shown;
  document_.content.baseline = project.baseline;
  for (const std::string& op : project.selection)
    if (const OpId id = document_.content.problem->find_op(op); id.valid()) document_.selection.ops.push_back(id);
  view_.mode = project.view.mode;
  view_.iterations = project.view.iterations;
  if (const auto tab = parse_tab(project.view.tab)) view_.tab = *tab;
  const auto choice = [&](const char* key) {
    const auto found = project.view.choices.find(key);
    return found == project.view.choices.end() ? std::string() : found->second;
  };
  if (const auto chart = parse_chart_view(choice("chart"))) view_.chart_view = *chart;
  view_.alignment = parse_alignment(choice("align"), *document_.content.problem);
  view_.restored_chart = ChartKept{project.view.visible, project.view.switches};
  for (const SourceOf of : {SourceOf::Kernel, SourceOf::Machine})
    if (const ProjectText& kept = of == SourceOf::Kernel ? project.kernel_text : project.machine_text; !kept.draft.empty()) {
      take_text(of, kept.draft, Content(document_.content));
      view_.editor = of;
    }
  changed();
}

void SessionCore::on(const SaveProject& c) {
  if (const std::string reason = session_.why_no_save(); !reason.empty()) return fail("Cannot save", Error::input(reason));
  const std::string given = c.path.empty() ? session_.project_file() : c.path;
  if (given.empty()) return fail("Cannot save", Error::input("the project has no file yet", "save it under a name first"));
  std::error_code code;
  const std::string path = fs::absolute(given, code).lexically_normal().string();
  // What others have put into the file stays there.
  const auto original = read_file(path);
  Project project = to_project(document_.content, document_.selection, view_);
  add_texts(project);
  const auto saved = write_file(path, project_text(project, fs::path(path).parent_path().string(), original ? *original : std::string()));
  if (!saved) return fail("Cannot save " + base_name(path), saved.error());
  document_.places[document_.content.document] = {path, document_.content};
  remember_recent(settings_, path);
  say(LogLevel::Good, "saved " + path);
  view_.exported.push_back({path, "project saved", true});
  changed();
}

void SessionCore::on(const SaveConstraints& c) {
  const auto saved =
      write_file(c.path, constraints_text(document_.content.constraints, document_.content.changes, {}, document_.content.choices));
  if (!saved) return fail("Cannot save " + base_name(c.path), saved.error());
  say(LogLevel::Good, "saved " + c.path);
}

// --- safe from crashes

void SessionCore::look_for_lost_work() {
  if (environment_.autosave_folder.empty()) return;
  std::vector<std::string> trouble;
  document_.recoveries = find_recoveries(environment_.autosave_folder, trouble);
  for (std::string& sentence : trouble) {
    say(LogLevel::Warning, sentence);
    view_.notice = std::move(sentence);
  }
  document_.autosave = std::make_unique<Autosave>(environment_.autosave_folder);
}

void SessionCore::keep_safe() {
  if (!document_.autosave) return;
  // What is kept of another document stays until there is work in this one.
  const bool work = document_.content.problem && session_.unsaved();
  if (work || (document_.content.document == document_.kept_document && document_.content.problem)) {
    document_.kept_document = document_.content.document;
    document_.autosave->keep(now(), revision_, work, [&]() -> std::function<std::string()> {
      Project project = to_project(document_.content, document_.selection, view_);
      add_texts(project);
      project.unsaved_of = session_.project_file();
      return [project = std::move(project)] { return project_text(project, {}); };
    });
  }
  if (auto trouble = document_.autosave->take_trouble()) {
    say(LogLevel::Warning, *trouble);
    view_.notice = *std::move(trouble);
  }
}

void SessionCore::on(const RestoreWork& c) {
  const auto recovery =
      std::find_if(document_.recoveries.begin(), document_.recoveries.end(), [&](const Recovery& r) { return r.path == c.path; });
  if (recovery == document_.recoveries.end()) return;
  const std::string what = describe(*recovery);
  document_.recoveries.erase(recovery);
  std::vector<Fault> warnings;
  auto project = read_project(c.path, &warnings);
  changed();
  if (!project) {
    std::error_code failed;
    if (fs::exists(c.path, failed)) fs::rename(c.path, c.path + ".unreadable", failed);
    return fail("The work cannot be restored", project.error());
  }
  judge_claims(*project, c.path, warnings);
  const std::string file = project->unsaved_of;
  take_project(*std::move(project), file, "restore " + what);
  recall_proofs();
  if (document_.autosave) document_.autosave->take_over(c.path);
  for (const Fault& warning : warnings) say(LogLevel::Warning, to_string(warning));
  say(LogLevel::Good, "restored " + what);
}

void SessionCore::on(const DiscardWork& c) {
  const auto recovery =
      std::find_if(document_.recoveries.begin(), document_.recoveries.end(), [&](const Recovery& r) { return r.path == c.path; });
  if (recovery == document_.recoveries.end()) return;
  say(LogLevel::Info, "discarded " + describe(*recovery));
  std::error_code ignored;
  fs::remove(recovery->path, ignored);
  document_.recoveries.erase(recovery);
  changed();
}

// --- flags

void SessionCore::on(const ToggleFlag& c) {
  if (!document_.content.problem) return;
  document_.undo.remember(document_.content, "flag");
  if (std::erase(document_.content.flags, c.at) == 0) document_.content.flags.push_back(c.at);
  changed();
}

void SessionCore::on(const ClearFlags&) {
  if (document_.content.flags.empty()) return;
  document_.undo.remember(document_.content, "remove flags");
  document_.content.flags.clear();
  changed();
}

}  // namespace heddle::app
