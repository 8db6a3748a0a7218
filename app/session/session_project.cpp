// Projects: opened as a step of undo, saved, kept safe from crashes; notes' neighbours, the flags.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "app/claims/judge_claim.h"
#include "app/session/dump_source.h"
#include "app/session/files.h"
#include "app/session/session.h"
#include "core/base/atomic_file.h"
#include "core/formats/constraints_json.h"

namespace heddle::app {

namespace fs = std::filesystem;

const std::string& Session::project_file() const {
  static const std::string none;
  const auto place = places_.find(content_.document);
  return place == places_.end() ? none : place->second.path;
}

bool Session::unsaved() const {
  const auto place = places_.find(content_.document);
  if (place == places_.end() || !place->second.saved) return content_.problem && has_work(content_);
  return differs(*place->second.saved, content_);
}

const std::string& Session::project_as_shown() const {
  static const std::string none;
  const auto place = places_.find(content_.document);
  if (place == places_.end() || !place->second.saved || unsaved()) return none;
  const Content& saved = *place->second.saved;
  return saved.shown == content_.shown && saved.baseline == content_.baseline ? place->second.path : none;
}

bool Session::worth_asking() const { return unsaved() && (has_own_work(content_) || !project_file().empty()); }

std::string Session::why_no_save() const {
  if (!content_.kernel) return "nothing is open";
  if (!content_.machine) return "a project needs a machine too";
  if (!content_.problem) return content_.kernel->name + " cannot be scheduled on " + content_.machine->name;
  return {};
}

namespace {

void judge_claims(Project& project, const std::string& file, std::vector<Fault>& warnings) {
  if (!project.problem) return;
  for (ProjectSchedule& entry : project.schedules) judge_claim(*project.problem, project.constraints, entry.schedule, file, &warnings);
}

}  // namespace

void Session::on(const OpenProject& c) {
  std::vector<Fault> warnings;
  auto project = read_project(c.path, &warnings);
  if (!project) return fail("Cannot open project " + base_name(c.path), project.error());
  std::error_code code;
  const std::string path = fs::absolute(c.path, code).string();
  remember_recent(settings_, path);
  judge_claims(*project, c.path, warnings);
  take_project(*std::move(project), path, "open project " + base_name(c.path));
  places_[content_.document].saved = content_;
  warn_aloud(warnings);
}

void Session::take_project(Project project, const std::string& path, const std::string& what) {
  Content next;
  next.kernel = project.kernel;
  next.machine = project.machine;
  if (project.kernel && project.machine && project.kernel->source == project.machine->file)
    if (auto source = read_dump_source(project.kernel->source)) next.dump = std::make_shared<const DumpSource>(*std::move(source));
  next.overrides = project.params;
  next.changes = project.changes;
  next.constraints = project.constraints;
  for (const ProjectNote& note : project.notes) next.notes.push_back({note.text, note.op, note.at});
  next.flags = project.flags;
  next.kernel_options = options_from(project.view.choices);
  adopt(std::move(next), what);
  if (!content_.problem) return;
  places_[content_.document] = {path, std::nullopt};
  content_.schedules = to_entries(project, *content_.problem);
  content_.shown = project.shown;
  content_.baseline = project.baseline;
  for (const std::string& op : project.selection)
    if (const OpId id = content_.problem->find_op(op); id.valid()) selection_.ops.push_back(id);
  view_.mode = project.view.mode;
  view_.iterations = project.view.iterations;
  if (const auto tab = parse_tab(project.view.tab)) view_.tab = *tab;
  const auto choice = [&](const char* key) {
    const auto found = project.view.choices.find(key);
    return found == project.view.choices.end() ? std::string() : found->second;
  };
  if (const auto chart = parse_chart_view(choice("chart"))) view_.chart_view = *chart;
  view_.alignment = parse_alignment(choice("align"), *content_.problem);
  view_.restored_chart = ChartKept{project.view.visible, project.view.switches};
  // Rows of new solves get numbers that no row of the project has.
  for (const EntryPtr& entry : content_.schedules) {
    int number = 0;
    if (std::sscanf(entry->name.c_str(), "solver #%d", &number) == 1) solves_ = std::max(solves_, number);
  }
  changed();
}

void Session::on(const SaveProject& c) {
  if (const std::string reason = why_no_save(); !reason.empty()) return fail("Cannot save", Error::input(reason));
  const std::string given = c.path.empty() ? project_file() : c.path;
  if (given.empty()) return fail("Cannot save", Error::input("the project has no file yet", "save it under a name first"));
  std::error_code code;
  const std::string path = fs::absolute(given, code).lexically_normal().string();
  // What others have put into the file stays there.
  const auto original = read_file(path);
  const Project project = to_project(content_, selection_, view_);
  const auto saved = write_file(path, project_text(project, fs::path(path).parent_path().string(), original ? *original : std::string()));
  if (!saved) return fail("Cannot save " + base_name(path), saved.error());
  places_[content_.document] = {path, content_};
  remember_recent(settings_, path);
  say(LogLevel::Good, "saved " + path);
  view_.exported.push_back({path, "project saved", true});
  changed();
}

void Session::on(const SaveConstraints& c) {
  const auto saved = write_file(c.path, constraints_text(content_.constraints, content_.changes));
  if (!saved) return fail("Cannot save " + base_name(c.path), saved.error());
  say(LogLevel::Good, "saved " + c.path);
}

// --- safe from crashes

void Session::look_for_lost_work() {
  if (environment_.autosave_folder.empty()) return;
  std::vector<std::string> trouble;
  recoveries_ = find_recoveries(environment_.autosave_folder, trouble);
  for (std::string& sentence : trouble) {
    say(LogLevel::Warning, sentence);
    view_.notice = std::move(sentence);
  }
  autosave_ = std::make_unique<Autosave>(environment_.autosave_folder);
}

void Session::keep_safe() {
  if (!autosave_) return;
  // What is kept of another document stays until there is work in this one.
  const bool work = content_.problem && unsaved();
  if (work || (content_.document == kept_document_ && content_.problem)) {
    kept_document_ = content_.document;
    autosave_->keep(now(), revision_, work, [&]() -> std::function<std::string()> {
      Project project = to_project(content_, selection_, view_);
      project.unsaved_of = project_file();
      return [project = std::move(project)] { return project_text(project, {}); };
    });
  }
  if (auto trouble = autosave_->take_trouble()) {
    say(LogLevel::Warning, *trouble);
    view_.notice = *std::move(trouble);
  }
}

void Session::on(const RestoreWork& c) {
  const auto recovery = std::find_if(recoveries_.begin(), recoveries_.end(), [&](const Recovery& r) { return r.path == c.path; });
  if (recovery == recoveries_.end()) return;
  const std::string what = describe(*recovery);
  recoveries_.erase(recovery);
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
  if (autosave_) autosave_->take_over(c.path);
  for (const Fault& warning : warnings) say(LogLevel::Warning, to_string(warning));
  say(LogLevel::Good, "restored " + what);
}

void Session::on(const DiscardWork& c) {
  const auto recovery = std::find_if(recoveries_.begin(), recoveries_.end(), [&](const Recovery& r) { return r.path == c.path; });
  if (recovery == recoveries_.end()) return;
  say(LogLevel::Info, "discarded " + describe(*recovery));
  std::error_code ignored;
  fs::remove(recovery->path, ignored);
  recoveries_.erase(recovery);
  changed();
}

void Session::on(const DismissNotice&) { view_.notice.clear(); }

// --- flags

void Session::on(const ToggleFlag& c) {
  if (!content_.problem) return;
  undo_.remember(content_, "flag");
  if (std::erase(content_.flags, c.at) == 0) content_.flags.push_back(c.at);
  changed();
}

void Session::on(const ClearFlags&) {
  if (content_.flags.empty()) return;
  undo_.remember(content_, "remove flags");
  content_.flags.clear();
  changed();
}

}  // namespace heddle::app
