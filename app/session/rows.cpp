#include "app/session/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/open_document.h"
#include "core/analysis/difference.h"

namespace heddle::app {

void ScheduleRows::on(const SelectSchedule& c) {
  if (c.index >= content_.schedules.size() || content_.shown == c.index) return;
  if (content_.baseline == c.index) return on(SwapBaseline{});  // both stay in view
  if (const ScheduleEntry* entry = content_.entry()) shown_before_ = entry->name;
  content_.shown = c.index;
  view_.highlight = {};
  changed();
}

void ScheduleRows::on(const SetBaseline& c) {
  if (c.index && *c.index >= content_.schedules.size()) return;
  view_.highlight = {};
  if (c.index && (view_.chart_view == ChartView::A || view_.chart_view == ChartView::Three)) view_.chart_view = ChartView::Split;
  if (!c.index || c.index != content_.shown) {
    content_.baseline = content_.shown ? c.index : std::nullopt;
    return changed();
  }
  if (content_.baseline) return on(SwapBaseline{});
  // The shown one moves down: what was shown before it, or its neighbour in the list, takes its place.
  if (content_.schedules.size() < 2) return say(LogLevel::Warning, "there is no other schedule to compare this one with");
  std::size_t other = *c.index > 0 ? *c.index - 1 : 1;
  for (std::size_t i = 0; i < content_.schedules.size(); ++i)
    if (i != *c.index && content_.schedules[i]->name == shown_before_) other = i;
  content_.baseline = content_.shown;
  content_.shown = other;
  changed();
}

void ScheduleRows::on(const SwapBaseline&) {
  if (!content_.baseline || !content_.shown) return;
  std::swap(content_.baseline, content_.shown);
  view_.highlight = {};
  changed();
}

void ScheduleRows::on(const SetAlignment& c) {
  const OpId op = c.alignment.op;
  if (c.alignment.at == Alignment::At::Op && (!content_.problem || !op.valid() || op.index() >= content_.problem->ops.size())) return;
  view_.alignment = c.alignment;
  changed();
}

void ScheduleRows::point_at(const std::vector<OpId>& ops, std::string why) {
  document_.selection.ops = ops;
  // The first one is what the inspector should show.
  std::reverse(document_.selection.ops.begin(), document_.selection.ops.end());
  view_.highlight = {std::move(why), ops, {}, {}};
  view_.zoom_to_selection = true;
  changed();
}

void ScheduleRows::on(const FirstDivergence&) {
  const ScheduleEntry *a = content_.entry(), *b = content_.baseline_entry();
  if (!a || !b) return;
  const Difference difference = compare_schedules(*content_.problem, a->schedule, b->schedule, view_.alignment);
  if (!difference.first) return say(LogLevel::Info, fmt::format("{} and {} are the same program", a->name, b->name));
  point_at(difference.first->ops, "first divergence: " + difference.first->sentence);
}

void ScheduleRows::on(const FirstViolation&) {
  const ScheduleEntry* entry = content_.entry();
  if (!entry || entry->verdict.valid()) return;
  const Violation& first = entry->verdict.violations.front();
  point_at(first.ops, first.message);
}

void ScheduleRows::on(const RenameSchedule& c) {
  if (c.index >= content_.schedules.size() || c.name.empty()) return;
  if (content_.schedules[c.index]->running) return say(LogLevel::Warning, "a running solve keeps its name");
  document_.undo.remember(content_, "rename " + content_.schedules[c.index]->name);
  ScheduleEntry entry = *content_.schedules[c.index];
  entry.name = entry.schedule.name = c.name;
  content_.schedules[c.index] = std::make_shared<const ScheduleEntry>(std::move(entry));
  changed();
}

void ScheduleRows::on(const AdoptSchedule& c) {
  if (!content_.problem || !fits(*content_.problem, c.schedule)) return;
  document_.undo.remember(content_, "take over " + c.name);
  add(c);
}

void ScheduleRows::add(const AdoptSchedule& c) {
  const auto known = std::find_if(content_.schedules.begin(), content_.schedules.end(),
                                  [&](const EntryPtr& e) { return e->name == c.name && same_program(e->schedule, c.schedule); });
  const bool as_b = c.as_baseline && content_.shown;  // the first of a list is A, whatever it was to be
  if (known != content_.schedules.end()) {
    (as_b ? content_.baseline : content_.shown) = static_cast<std::size_t>(known - content_.schedules.begin());
    if (content_.baseline == content_.shown) content_.baseline.reset();
    return changed();
  }
  ScheduleEntry entry;
  entry.name = c.name;
  entry.status = c.lower_bound == c.schedule.ii ? Status::Optimal : Status::Feasible;
  entry.lower_bound = c.lower_bound;
  entry.explanation = c.explanation;
  entry.schedule = c.schedule;
  entry.schedule.name = c.name;
  content_.schedules.push_back(make_entry(*content_.problem, content_.constraints, std::move(entry)));
  (as_b ? content_.baseline : content_.shown) = content_.schedules.size() - 1;
  if (content_.baseline == content_.shown) content_.baseline.reset();
  changed();
}

void ScheduleRows::on(const AddNote& c) {
  if (!content_.problem || c.note.text.empty()) return;
  document_.undo.remember(content_, "note");
  content_.notes.push_back(c.note);
  changed();
}

void ScheduleRows::on(const EditNote& c) {
  if (c.index >= content_.notes.size()) return;
  document_.undo.remember(content_, c.text.empty() ? "remove note" : "edit note");
  if (c.text.empty())
    content_.notes.erase(content_.notes.begin() + static_cast<std::ptrdiff_t>(c.index));
  else
    content_.notes[c.index].text = c.text;
  changed();
}

void ScheduleRows::on(const ToggleFlag& c) {
  if (!content_.problem) return;
  document_.undo.remember(content_, "flag");
  if (std::erase(content_.flags, c.at) == 0) content_.flags.push_back(c.at);
  changed();
}

void ScheduleRows::on(const ClearFlags&) {
  if (content_.flags.empty()) return;
  document_.undo.remember(content_, "remove flags");
  content_.flags.clear();
  changed();
}

}  // namespace heddle::app
