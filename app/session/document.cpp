// What is derived when a schedule enters the document.
#include "app/session/document.h"

#include <algorithm>

namespace heddle::app {

bool fits(const Problem& problem, const Schedule& schedule) {
  return schedule.ii >= 1 && schedule.ops.size() == problem.ops.size() &&
         schedule.depths.size() == problem.channels.size() &&
         std::all_of(schedule.ops.begin(), schedule.ops.end(), [&](const Placement& p) {
           return p.start >= 0 && p.group.valid() && p.group.index() < schedule.groups.size();
         });
}

EntryPtr make_entry(const Problem& problem, const Constraints& constraints, ScheduleEntry entry) {
  entry.verdict = check(problem, entry.schedule, constraints);
  entry.period = sustainable_period(problem, entry.schedule);
  entry.usage = compute_usage(problem, entry.schedule);
  if (!entry.verdict.valid()) entry.status = Status::Invalid;
  return std::make_shared<const ScheduleEntry>(std::move(entry));
}

}  // namespace heddle::app
