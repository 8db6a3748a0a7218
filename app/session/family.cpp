#include "app/session/family.h"

#include <algorithm>

#include "app/session/edits.h"
#include "app/session/open_document.h"
#include "app/session/questions.h"
#include "app/session/solving.h"
#include "app/session/texts.h"
#include "core/kernel/subtile.h"
#include "core/library/library.h"
#include "core/problem/changes.h"

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

/// The kernel cut as the member has it: another document, in a file of its own. Pre: it is cut.
Result<Ok> cut_as(const KernelSetMember& member, Content& next) {
  std::string name = next.kernel->source;
  for (const Subtile& cut : member.subtiles) name += cut_suffix(cut);
  Result<Kernel> kernel = load_kernel(name);
  if (!kernel) return kernel.error();
  next.kernel = std::make_shared<const Kernel>(*std::move(kernel));
  next.kernel_text = nullptr;
  next.document = 0;
  next.overrides.clear();
  next.notes.clear();
  return Ok{};
}

/// Its answer, as far as that is one about the problem that is open.
ScheduleEntry entry_of(const KernelSetMember& member, const Problem& problem) {
  const SolveOutcome& known = member.outcome;
  ScheduleEntry entry;
  entry.name = member.label;
  entry.schedule = *known.schedule;
  entry.schedule.name = member.label;
  entry.status = Status::Feasible;
  if (problem_hash(member.problem) == problem_hash(problem)) {
    entry.lower_bound = known.lower_bound;
    entry.explanation = known.explanation;
    if (known.lower_bound == known.schedule->ii) entry.status = Status::Optimal;
  }
  return entry;
}

}  // namespace

std::string FamilyMembers::why_no_member(std::size_t index) const {
  const auto* family = questions_.question(Topic::Family).as<FamilyAnswer>();
  if (!family || index >= family->set.members.size()) return "there is no such member";
  if (!questions_.answered(Topic::Family)) return "it is of a kernel or machine that is not open any more";
  const KernelSetMember& member = family->set.members[index];
  if (member.invalid()) return member.faults.front().message;
  if (member.subtiles.empty()) return {};
  if (files_.unsaved(content_, SourceOf::Kernel)) return "save the kernel first: it is cut by reading its file";
  const auto chosen = [&](const std::string& name) {
    return std::any_of(member.choices.begin(), member.choices.end(), [&](const auto& choice) { return choice.first == name; });
  };
  const auto of_file = [&](const auto& choice) {
    const Param* param = content_.kernel->find_param(choice.first);
    return param && param->value == choice.second;
  };
  const Scope& set = content_.overrides;
  const bool own_sizes = std::all_of(set.begin(), set.end(), [&](const auto& one) { return chosen(one.first); }) &&
                         std::all_of(member.choices.begin(), member.choices.end(), of_file);
  return own_sizes ? "" : "a kernel is cut at the sizes of its file, and these are others: a file of your own with these sizes can be cut";
}

void FamilyMembers::on(const OpenMember& c) {
  if (const std::string reason = why_no_member(c.index); !reason.empty())
    return say(LogLevel::Warning, "not opening this member: " + reason);
  const KernelSetMember member = questions_.question(Topic::Family).as<FamilyAnswer>()->set.members[c.index];
  Content next = with_choices(content_, member);
  if (!member.subtiles.empty())
    if (const Result<Ok> cut = cut_as(member, next); !cut) return fail("Cannot open " + member.label, cut.error());
  edits_.adopt(std::move(next), "open " + member.label);
  if (!content_.problem) return;
  if (!member.outcome.schedule || !fits(*content_.problem, *member.outcome.schedule)) return solving_.solve_opened();
  // Part of the same step: one gesture, one undo.
  content_.schedules.push_back(make_entry(*content_.problem, content_.constraints, entry_of(member, *content_.problem)));
  content_.shown = content_.schedules.size() - 1;
  changed();
}

}  // namespace heddle::app
