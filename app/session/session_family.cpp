// A member of a family of kernels becomes what is worked on.
#include <fmt/format.h>

#include "app/session/session_core.h"
#include "core/problem/changes.h"
#include "core/problem/resolve.h"

namespace heddle::app {
namespace {

/// The document as this member has it: parameters and groups as choices of one's own.
Content with_choices(const Content& content, const KernelSetMember& member) {
  Content next = content;
  for (const auto& [name, value] : member.choices) {
    const Param* param = content.kernel->find_param(name);
    if (param && param->value == value)
      next.overrides.erase(name);
    else
      next.overrides[name] = value;
  }
  if (member.groups != member.usual_groups) {
    Change groups;
    groups.kind = ChangeKind::Groups;
    groups.value = member.groups;
    put(next.changes, groups);
  }
  next.problem = nullptr;
  next.bounds = nullptr;
  next.constraints.clear();
  next.schedules.clear();
  next.shown.reset();
  next.baseline.reset();
  return next;
}

}  // namespace

std::string Session::why_no_member(std::size_t index) const {
  const auto* family = question(Topic::Family).as<FamilyAnswer>();
  if (!family || index >= family->set.members.size()) return "there is no such member";
  if (!answered(Topic::Family)) return "it is of a kernel or machine that is not open any more";
  const KernelSetMember& member = family->set.members[index];
  if (member.invalid()) return member.faults.front().message;
  if (!member.subtiles.empty())
    return "it is cut into sub-tiles: cut the kernel first, under Machine and parameters, then its sizes are open";
  return {};
}

void SessionCore::on(const OpenMember& c) {
  if (const std::string reason = session_.why_no_member(c.index); !reason.empty())
    return say(LogLevel::Warning, "not opening this member: " + reason);
  const KernelSetMember member = question_of(Topic::Family).as<FamilyAnswer>()->set.members[c.index];
  adopt(with_choices(document_.content, member), "open " + member.label);
  if (!document_.content.problem) return;
  const SolveOutcome& known = member.outcome;
  if (!known.schedule || !fits(*document_.content.problem, *known.schedule)) {
    if (session_.why_no_solve().empty()) on(StartSolve{});
    return;
  }
  // Part of the same step: one gesture, one undo.
  Content& content = document_.content;
  ScheduleEntry entry;
  entry.name = member.label;
  entry.schedule = *known.schedule;
  entry.schedule.name = member.label;
  entry.status = Status::Feasible;
  if (problem_hash(member.problem) == problem_hash(*content.problem)) {
    entry.lower_bound = known.lower_bound;
    entry.explanation = known.explanation;
    if (known.lower_bound == known.schedule->ii) entry.status = Status::Optimal;
  }
  content.schedules.push_back(make_entry(*content.problem, content.constraints, std::move(entry)));
  content.shown = content.schedules.size() - 1;
  changed();
}

}  // namespace heddle::app
