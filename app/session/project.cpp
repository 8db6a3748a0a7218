#include "app/session/project.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/session/session.h"
#include "app/session/triton_source.h"

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
    if (content.triton && std::any_of(triton::kAllWhose.begin(), triton::kAllWhose.end(),
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

}  // namespace heddle::app
