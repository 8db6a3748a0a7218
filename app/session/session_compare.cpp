// Schedules beside each other: which one is B, what they are called, and answers that become rows of the list.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/session_core.h"
#include "core/analysis/difference.h"

namespace heddle::app {

void SessionCore::on(const SelectSchedule& c) {
  if (c.index >= document_.content.schedules.size() || document_.content.shown == c.index) return;
  if (document_.content.baseline == c.index) return on(SwapBaseline{});  // both stay in view
  if (const ScheduleEntry* entry = document_.content.entry()) document_.shown_before = entry->name;
  document_.content.shown = c.index;
  view_.highlight = {};
  changed();
}

void SessionCore::on(const SetBaseline& c) {
  if (c.index && *c.index >= document_.content.schedules.size()) return;
  view_.highlight = {};
  if (c.index && (view_.chart_view == ChartView::A || view_.chart_view == ChartView::Three)) view_.chart_view = ChartView::Split;
  if (!c.index || c.index != document_.content.shown) {
    document_.content.baseline = document_.content.shown ? c.index : std::nullopt;
    return changed();
  }
  if (document_.content.baseline) return on(SwapBaseline{});
  // The shown one moves down: what was shown before it, or its neighbour in the list, takes its place.
  if (document_.content.schedules.size() < 2) return say(LogLevel::Warning, "there is no other schedule to compare this one with");
  std::size_t other = *c.index > 0 ? *c.index - 1 : 1;
  for (std::size_t i = 0; i < document_.content.schedules.size(); ++i)
    if (i != *c.index && document_.content.schedules[i]->name == document_.shown_before) other = i;
  document_.content.baseline = document_.content.shown;
  document_.content.shown = other;
  changed();
}

void SessionCore::on(const SwapBaseline&) {
  if (!document_.content.baseline || !document_.content.shown) return;
  std::swap(document_.content.baseline, document_.content.shown);
  view_.highlight = {};
  changed();
}

void SessionCore::on(const SetAlignment& c) {
  const OpId op = c.alignment.op;
  if (c.alignment.at == Alignment::At::Op &&
      (!document_.content.problem || !op.valid() || op.index() >= document_.content.problem->ops.size()))
    return;
  view_.alignment = c.alignment;
  changed();
}

void SessionCore::point_at(const std::vector<OpId>& ops, std::string why) {
  document_.selection.ops = ops;
  // The first one is what the inspector should show.
  std::reverse(document_.selection.ops.begin(), document_.selection.ops.end());
  view_.highlight = {std::move(why), ops, {}, {}};
  view_.zoom_to_selection = true;
  changed();
}

void SessionCore::on(const FirstDivergence&) {
  const ScheduleEntry *a = document_.content.entry(), *b = document_.content.baseline_entry();
  if (!a || !b) return;
  const Difference difference = compare_schedules(*document_.content.problem, a->schedule, b->schedule, view_.alignment);
  if (!difference.first) return say(LogLevel::Info, fmt::format("{} and {} are the same program", a->name, b->name));
  point_at(difference.first->ops, "first divergence: " + difference.first->sentence);
}

void SessionCore::on(const FirstViolation&) {
  const ScheduleEntry* entry = document_.content.entry();
  if (!entry || entry->verdict.valid()) return;
  const Violation& first = entry->verdict.violations.front();
  point_at(first.ops, first.message);
}

void SessionCore::on(const RenameSchedule& c) {
  if (c.index >= document_.content.schedules.size() || c.name.empty()) return;
  if (document_.content.schedules[c.index]->running) return say(LogLevel::Warning, "a running solve keeps its name");
  document_.undo.remember(document_.content, "rename " + document_.content.schedules[c.index]->name);
  ScheduleEntry entry = *document_.content.schedules[c.index];
  entry.name = entry.schedule.name = c.name;
  document_.content.schedules[c.index] = std::make_shared<const ScheduleEntry>(std::move(entry));
  changed();
}

void SessionCore::on(const AdoptSchedule& c) {
  if (!document_.content.problem || !fits(*document_.content.problem, c.schedule)) return;
  document_.undo.remember(document_.content, "take over " + c.name);
  add_row(c);
}

void SessionCore::add_row(const AdoptSchedule& c) {
  const auto known = std::find_if(document_.content.schedules.begin(), document_.content.schedules.end(),
                                  [&](const EntryPtr& e) { return e->name == c.name && same_program(e->schedule, c.schedule); });
  const bool as_b = c.as_baseline && document_.content.shown;  // the first of a list is A, whatever it was to be
  if (known != document_.content.schedules.end()) {
    (as_b ? document_.content.baseline : document_.content.shown) = static_cast<std::size_t>(known - document_.content.schedules.begin());
    if (document_.content.baseline == document_.content.shown) document_.content.baseline.reset();
    return changed();
  }
  ScheduleEntry entry;
  entry.name = c.name;
  entry.status = c.lower_bound == c.schedule.ii ? Status::Optimal : Status::Feasible;
  entry.lower_bound = c.lower_bound;
  entry.explanation = c.explanation;
  entry.schedule = c.schedule;
  entry.schedule.name = c.name;
  document_.content.schedules.push_back(make_entry(*document_.content.problem, document_.content.constraints, std::move(entry)));
  (as_b ? document_.content.baseline : document_.content.shown) = document_.content.schedules.size() - 1;
  if (document_.content.baseline == document_.content.shown) document_.content.baseline.reset();
  changed();
}

void SessionCore::on(const AddNote& c) {
  if (!document_.content.problem || c.note.text.empty()) return;
  document_.undo.remember(document_.content, "note");
  document_.content.notes.push_back(c.note);
  changed();
}

void SessionCore::on(const EditNote& c) {
  if (c.index >= document_.content.notes.size()) return;
  document_.undo.remember(document_.content, c.text.empty() ? "remove note" : "edit note");
  if (c.text.empty())
    document_.content.notes.erase(document_.content.notes.begin() + static_cast<std::ptrdiff_t>(c.index));
  else
    document_.content.notes[c.index].text = c.text;
  changed();
}

}  // namespace heddle::app
