// Schedules beside each other: which one is B, what they are called, and answers that become rows of the list.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/session.h"

namespace heddle::app {

void Session::on(const SetBaseline& c) {
  if (c.index && *c.index >= content_.schedules.size()) return;
  content_.baseline = c.index == content_.shown ? std::nullopt : c.index;
  changed();
}

void Session::on(const SwapBaseline&) {
  if (!content_.baseline || !content_.shown) return;
  std::swap(content_.baseline, content_.shown);
  changed();
}

void Session::on(const RenameSchedule& c) {
  if (c.index >= content_.schedules.size() || c.name.empty()) return;
  if (content_.schedules[c.index]->running) return say(LogLevel::Warning, "a running solve keeps its name");
  undo_.remember(content_, "rename " + content_.schedules[c.index]->name);
  ScheduleEntry entry = *content_.schedules[c.index];
  entry.name = entry.schedule.name = c.name;
  content_.schedules[c.index] = std::make_shared<const ScheduleEntry>(std::move(entry));
  changed();
}

void Session::on(const AdoptSchedule& c) {
  if (!content_.problem || !fits(*content_.problem, c.schedule)) return;
  const auto known = std::find_if(content_.schedules.begin(), content_.schedules.end(), [&](const EntryPtr& e) {
    return e->name == c.name && same_program(e->schedule, c.schedule);
  });
  undo_.remember(content_, "take over " + c.name);
  if (known != content_.schedules.end()) {
    (c.as_baseline ? content_.baseline : content_.shown) = static_cast<std::size_t>(known - content_.schedules.begin());
    if (content_.baseline == content_.shown) content_.baseline.reset();
    return changed();
  }
  ScheduleEntry entry;
  entry.name = c.name;
  entry.lower_bound = c.lower_bound;
  entry.status = c.lower_bound == c.schedule.ii ? Status::Optimal : Status::Feasible;
  entry.schedule = c.schedule;
  entry.schedule.name = c.name;
  content_.schedules.push_back(make_entry(*content_.problem, content_.constraints, std::move(entry)));
  (c.as_baseline ? content_.baseline : content_.shown) = content_.schedules.size() - 1;
  if (content_.baseline == content_.shown) content_.baseline.reset();
  changed();
}

void Session::on(const AddNote& c) {
  if (!content_.problem || c.note.text.empty()) return;
  undo_.remember(content_, "note");
  content_.notes.push_back(c.note);
  changed();
}

void Session::on(const EditNote& c) {
  if (c.index >= content_.notes.size()) return;
  undo_.remember(content_, c.text.empty() ? "remove note" : "edit note");
  if (c.text.empty())
    content_.notes.erase(content_.notes.begin() + static_cast<std::ptrdiff_t>(c.index));
  else
    content_.notes[c.index].text = c.text;
  changed();
}

}  // namespace heddle::app
