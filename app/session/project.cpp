#include "app/session/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/jobs/judge_claim.h"
#include "app/session/edits.h"
#include "app/session/files.h"
#include "app/session/open_document.h"
#include "app/session/solving.h"
#include "app/session/source_document.h"
#include "app/session/texts.h"
#include "core/base/atomic_file.h"
#include "core/chart/gantt_model.h"
#include "core/triton/audit/comparison.h"

namespace heddle::app {
namespace {

constexpr std::array<std::pair<BottomTab, const char*>, 23> kTabs{{{BottomTab::Log, "log"},
                                                                   {BottomTab::Explain, "explain"},
                                                                   {BottomTab::Slack, "slack"},
                                                                   {BottomTab::Alternatives, "alternatives"},
                                                                   {BottomTab::WhatIf, "what_if"},
                                                                   {BottomTab::Pareto, "pareto"},
                                                                   {BottomTab::Sensitivity, "sensitivity"},
                                                                   {BottomTab::Compare, "compare"},
                                                                   {BottomTab::Triton, "triton"},
                                                                   {BottomTab::Audit, "audit"},
                                                                   {BottomTab::Graph, "graph"},
                                                                   {BottomTab::Pipeline, "pipeline"},
                                                                   {BottomTab::Ops, "ops"},
                                                                   {BottomTab::Units, "units"},
                                                                   {BottomTab::Constraints, "constraints"},
                                                                   {BottomTab::Cuda, "cuda"},
                                                                   {BottomTab::Simulate, "simulate"},
                                                                   {BottomTab::Runs, "runs"},
                                                                   {BottomTab::Sweep, "sweep"},
                                                                   {BottomTab::Truth, "truth"},
                                                                   {BottomTab::Family, "family"},
                                                                   {BottomTab::Machine, "machine"},
                                                                   {BottomTab::Layout, "layout"}}};

bool same_changes(const Changes& a, const Changes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Change& x, const Change& y) {
    return x.name == y.name && x.enabled == y.enabled && describe(x) == describe(y);
  });
}

}  // namespace

const char* to_string(BottomTab tab) {
  for (const auto& [known, word] : kTabs)
    if (known == tab) return word;
  return "log";
}

std::optional<BottomTab> parse_tab(std::string_view word) {
  for (const auto& [tab, known] : kTabs)
    if (known == word) return tab;
  if (word == "paper") return BottomTab::Compare;  // a tab of its own once
  return std::nullopt;
}

Project to_project(const Content& content, const Selection& selection, const ViewState& view) {
  Project project;
  project.spec = content.spec();
  project.problem = content.problem;
  project.constraints = content.constraints;
  for (const EntryPtr& entry : content.schedules) {
    ProjectSchedule& item = project.schedules.emplace_back();
    item.name = entry->name;
    item.schedule = entry->schedule;
    item.status = entry->status;
    item.lower_bound = entry->lower_bound;
    item.explanation = entry->explanation;
    item.objectives = entry->objectives;
    item.seconds = entry->seconds;
    item.file = entry->file;
  }
  project.shown = content.shown;
  project.baseline = content.baseline;
  for (const Note& note : content.notes) project.notes.push_back({note.text, note.op, note.at});
  project.flags = content.flags;
  for (const OpId op : selection.ops) project.selection.push_back(content.problem->op(op).name);
  project.view.mode = view.mode;
  project.view.iterations = view.iterations;
  project.view.tab = to_string(view.tab);
  project.view.visible = view.chart.visible;
  project.view.switches = view.chart.switches;
  project.view.choices = to_choices(content.kernel_options);
  if (content.baseline || view.chart_view == ChartView::Three) project.view.choices["chart"] = to_string(view.chart_view);
  if (content.baseline)
    project.view.choices["align"] = view.alignment.at == Alignment::At::Op && view.alignment.op.valid()
                                        ? "op " + content.problem->op(view.alignment.op).name
                                    : view.alignment.at == Alignment::At::Most ? "most"
                                                                               : "start";
  return project;
}

const char* to_string(ChartView view) {
  switch (view) {
    case ChartView::A: return "a";
    case ChartView::Split: return "split";
    case ChartView::Ghost: return "ghost";
    case ChartView::Three: return "three";
  }
  return "a";
}

std::optional<ChartView> parse_chart_view(std::string_view word) {
  for (const ChartView view : {ChartView::A, ChartView::Split, ChartView::Ghost, ChartView::Three})
    if (word == to_string(view)) return view;
  return std::nullopt;
}

Alignment parse_alignment(std::string_view word, const Problem& problem) {
  if (word == "most") return {Alignment::At::Most, {}};
  if (word.starts_with("op "))
    if (const OpId op = problem.find_op(std::string(word.substr(3))); op.valid()) return {Alignment::At::Op, op};
  return {};
}

std::vector<EntryPtr> to_entries(const Project& project, const Problem& problem) {
  std::vector<EntryPtr> entries;
  for (const ProjectSchedule& item : project.schedules) {
    ScheduleEntry entry;
    entry.name = item.name;
    entry.schedule = item.schedule;
    entry.schedule.name = item.name;
    entry.status = Status::Feasible;  // what the file says is in the schedule's claim
    entry.seconds = item.seconds;
    entry.file = item.file;
    entries.push_back(make_entry(problem, project.constraints, std::move(entry)));
  }
  return entries;
}

bool has_own_work(const Content& content) {
  const auto own = [](const std::shared_ptr<const SourceText>& text) { return text && text->own; };
  if (own(content.kernel_text) || own(content.machine_text)) return true;
  const auto made = [&](const UserConstraint& c) {
    return !content.given || std::find(content.given->begin(), content.given->end(), c) == content.given->end();
  };
  const bool chosen = !content.choices.empty() && content.choices != content.brought;
  return std::any_of(content.constraints.begin(), content.constraints.end(), made) || chosen || !content.changes.empty() ||
         !content.notes.empty() || !content.flags.empty();
}

bool has_work(const Content& content) {
  // Opening the same kernel again finds them by itself.
  const auto found_again = [&](const EntryPtr& entry) {
    if (content.triton() && std::any_of(triton::kAllWhose.begin(), triton::kAllWhose.end(),
                                        [&](triton::Whose whose) { return entry->name == row_name(whose); }))
      return true;
    return entry->running || entry->of_solver || (entry->file.empty() && entry->name == "solver #1" && entry->seconds < kSoon);
  };
  return has_own_work(content) || !content.overrides.empty() || !content.choices.empty() || content.kernel_options != KernelOptions{} ||
         !std::all_of(content.schedules.begin(), content.schedules.end(), found_again);
}

bool differs(const Content& a, const Content& b) {
  const auto words = [](const std::shared_ptr<const SourceText>& text) { return text ? text->text : std::string(); };
  // With one text they say the same, wherever it lies.
  const bool other_kernel = a.kernel != b.kernel && !(a.kernel_text && b.kernel_text),
             other_machine = a.machine != b.machine && !(a.machine_text && b.machine_text);
  return words(a.kernel_text) != words(b.kernel_text) || words(a.machine_text) != words(b.machine_text) || other_kernel || other_machine ||
         a.overrides != b.overrides || a.choices != b.choices || !same_changes(a.changes, b.changes) || a.constraints != b.constraints ||
         a.schedules != b.schedules || a.notes != b.notes || a.flags != b.flags || a.kernel_options != b.kernel_options;
}

namespace fs = std::filesystem;

const std::string& Projects::project_file() const {
  static const std::string none;
  const auto place = places_.find(content_.document);
  return place == places_.end() ? none : place->second.path;
}

bool Projects::unsaved() const {
  const auto place = places_.find(content_.document);
  if (place == places_.end() || !place->second.saved) return content_.problem && has_work(content_);
  return differs(*place->second.saved, content_);
}

const std::string& Projects::project_as_shown() const {
  static const std::string none;
  const auto place = places_.find(content_.document);
  if (place == places_.end() || !place->second.saved || unsaved()) return none;
  const Content& saved = *place->second.saved;
  return saved.shown == content_.shown && saved.baseline == content_.baseline ? place->second.path : none;
}

bool Projects::worth_asking() const {
  return !unfinished_search().empty() || (unsaved() && (has_own_work(content_) || !project_file().empty()));
}

std::string Projects::unfinished_search() const {
  if (!content_.problem) return {};
  const double running = solving_.live().active() ? solving_.seconds() : 0;
  const auto sentence = [&](double seconds, Cycle ii, Cycle bound) {
    return fmt::format("The search for {} has not proved its II after {:.0f} s: {}, no II below {}.", content_.kernel->name, seconds,
                       ii > 0 ? fmt::format("II {}", ii) : "no schedule yet", bound);
  };
  if (running >= kSoon) return sentence(running, solving_.live().best.value_or(0), solving_.live().lower_bound);
  if (!unsaved()) return {};
  for (const EntryPtr& entry : content_.schedules)
    if (is_unfinished(*entry) && entry->seconds >= kSoon)
      return sentence(entry->seconds, entry->schedule.ii, entry->lower_bound.value_or(content_.bounds->min_ii()));
  return {};
}

std::string Projects::why_no_save() const {
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

void Projects::on(const OpenProject& c) {
  std::vector<Fault> warnings;
  auto project = read_project(c.path, &warnings);
  if (!project) return fail("Cannot open project " + base_name(c.path), project.error());
  std::error_code code;
  const std::string path = fs::absolute(c.path, code).string();
  remember_recent(settings_, path);
  judge_claims(*project, c.path, warnings);
  take_project(*project, path, "open project " + base_name(c.path));
  solving_.recall_proofs();
  call_saved();
  warn_aloud(warnings);
}

namespace {

/// What is open with it, before rows and view are taken over.
Content content_of(const Project& project) {
  Content next;
  next.kernel = project.spec.kernel;
  next.machine = project.spec.machine;
  if (next.kernel && project.kernel_text.text.empty()) next.source = SourceDocument::source_of(*next.kernel, next.machine.get());
  const auto own = [](const ProjectText& kept, const std::string& file) -> std::shared_ptr<const SourceText> {
    return kept.text.empty() ? nullptr : std::make_shared<const SourceText>(SourceText{kept.text, file, {}, true});
  };
  if (next.kernel) next.kernel_text = own(project.kernel_text, next.kernel->source);
  if (next.machine) next.machine_text = own(project.machine_text, next.machine->file);
  next.overrides = project.spec.params;
  next.changes = project.spec.changes;
  next.choices = project.spec.choices;
  next.constraints = project.constraints;
  for (const ProjectNote& note : project.notes) next.notes.push_back({note.text, note.op, note.at});
  next.flags = project.flags;
  next.kernel_options = options_from(project.view.choices);
  return next;
}

}  // namespace

void Projects::call_saved() { places_[content_.document].saved = content_; }

void Projects::take_project(const Project& project, const std::string& path, const std::string& what) {
  edits_.adopt(content_of(project), what);
  if (!content_.problem) return;
  places_[content_.document] = {path, std::nullopt};
  content_.schedules = to_entries(project, *content_.problem);
  if (content_.source) SourceDocument::take_rules(content_);
  content_.shown = project.shown;
  content_.baseline = project.baseline;
  for (const std::string& op : project.selection)
    if (const OpId id = content_.problem->find_op(op); id.valid()) document_.selection.ops.push_back(id);
  take_view(project);
  for (const SourceOf of : {SourceOf::Kernel, SourceOf::Machine})
    if (const ProjectText& kept = of == SourceOf::Kernel ? project.kernel_text : project.machine_text; !kept.draft.empty()) {
      texts_.take_text(of, kept.draft, Content(content_));
      view_.editor = of;
    }
  changed();
}

void Projects::take_view(const Project& project) {
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
}

void Projects::on(const SaveProject& c) {
  if (const std::string reason = why_no_save(); !reason.empty()) return fail("Cannot save", Error::input(reason));
  const std::string given = c.path.empty() ? project_file() : c.path;
  if (given.empty()) return fail("Cannot save", Error::input("the project has no file yet", "save it under a name first"));
  std::error_code code;
  const std::string path = fs::absolute(given, code).lexically_normal().string();
  // What others have put into the file stays there.
  const auto original = read_file(path);
  Project project = to_project(content_, document_.selection, view_);
  texts_.add_texts(project);
  const auto saved = write_file(path, project_text(project, fs::path(path).parent_path().string(), original ? *original : std::string()));
  if (!saved) return fail("Cannot save " + base_name(path), saved.error());
  places_[content_.document] = {path, content_};
  remember_recent(settings_, path);
  say(LogLevel::Good, "saved " + path);
  view_.exported.push_back({path, "project saved", true});
  changed();
}

// --- safe from crashes

void Projects::look_for_lost_work(const std::string& folder) {
  if (folder.empty()) return;
  std::vector<std::string> trouble;
  recoveries_ = find_recoveries(folder, trouble);
  for (std::string& sentence : trouble) {
    say(LogLevel::Warning, sentence);
    view_.notice = std::move(sentence);
  }
  autosave_ = std::make_unique<Autosave>(folder);
}

void Projects::keep_safe() {
  if (!autosave_) return;
  // What is kept of another document stays until there is work in this one.
  const bool work = content_.problem && unsaved();
  if (work || (content_.document == kept_document_ && content_.problem)) {
    kept_document_ = content_.document;
    autosave_->keep(now(), document_.revision, work, [&]() -> std::function<std::string()> {
      Project project = to_project(content_, document_.selection, view_);
      texts_.add_texts(project);
      project.unsaved_of = project_file();
      return [project = std::move(project)] { return project_text(project, {}); };
    });
  }
  if (auto trouble = autosave_->take_trouble()) {
    say(LogLevel::Warning, *trouble);
    view_.notice = *std::move(trouble);
  }
}

void Projects::on(const RestoreWork& c) {
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
  take_project(*project, file, "restore " + what);
  solving_.recall_proofs();
  if (autosave_) autosave_->take_over(c.path);
  for (const Fault& warning : warnings) say(LogLevel::Warning, to_string(warning));
  say(LogLevel::Good, "restored " + what);
}

void Projects::on(const DiscardWork& c) {
  const auto recovery = std::find_if(recoveries_.begin(), recoveries_.end(), [&](const Recovery& r) { return r.path == c.path; });
  if (recovery == recoveries_.end()) return;
  say(LogLevel::Info, "discarded " + describe(*recovery));
  std::error_code ignored;
  fs::remove(recovery->path, ignored);
  recoveries_.erase(recovery);
  changed();
}

}  // namespace heddle::app
