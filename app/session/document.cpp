#include "app/session/document.h"

#include <algorithm>

#include "app/session/files.h"
#include "app/session/proposal.h"
#include "core/analysis/difference.h"

namespace heddle::app {

bool fits(const Problem& problem, const Schedule& schedule) {
  return schedule.ii >= 1 && schedule.ops.size() == problem.ops.size() && schedule.depths.size() == problem.channels.size() &&
         std::all_of(schedule.ops.begin(), schedule.ops.end(),
                     [&](const Placement& p) { return p.start >= 0 && p.group.valid() && p.group.index() < schedule.groups.size(); });
}

bool is_unfinished(const ScheduleEntry& entry) {
  return entry.status == Status::Feasible && entry.verdict.valid() && !entry.running && !entry.robust && !entry.by_time && !entry.earlier &&
         entry.file.empty() && entry.schedule.provenance.kind == "solver" &&
         !(entry.schedule.claim && entry.schedule.claim->status == Status::Optimal);
}

Verdict judge(const Problem& problem, const Constraints& constraints, const Schedule& schedule) {
  const Cycle shift = frame_shift(problem, constraints, schedule);
  const auto stays = [&](const Placement& p) { return p.start + shift >= 0; };
  const bool moved = shift != 0 && std::all_of(schedule.ops.begin(), schedule.ops.end(), stays);
  return check(problem, moved ? shifted(schedule, shift) : schedule, constraints);
}

EntryPtr make_entry(const Problem& problem, const Constraints& constraints, ScheduleEntry entry) {
  Constraints demands = constraints;
  if (entry.unbound)
    for (const UserConstraint& demand : *entry.unbound) std::erase(demands, demand);
  entry.verdict = judge(problem, demands, entry.schedule);
  entry.period = sustainable_period(problem, entry.schedule);
  entry.usage = compute_usage(problem, entry.schedule);
  if (!entry.verdict.valid()) {
    // Of an illegal schedule nothing is proved.
    entry.status = Status::Invalid;
    for (ObjectiveValue& objective : entry.objectives) objective.proved = false;
  }
  return std::make_shared<const ScheduleEntry>(std::move(entry));
}

ScheduleEntry entry_of_file(Schedule schedule, const std::string& path) {
  ScheduleEntry entry;
  entry.name = schedule.name.empty() ? base_name(path) : schedule.name;
  entry.file = path;
  entry.status = Status::Feasible;
  entry.schedule = std::move(schedule);
  return entry;
}

}  // namespace heddle::app
