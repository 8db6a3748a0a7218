// Proposals: constraints and changed numbers, put in force as steps of undo.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/session/files.h"
#include "app/session/proposal.h"
#include "app/session/session.h"
#include "core/base/saturate.h"
#include "core/formats/constraints_json.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

constexpr Cycle kFarthestStage = 64;  ///< that a drop can ask for

}  // namespace

void Session::constrain(Constraints next, const std::string& what, bool solve) {
  abandon_job("the constraints changed");
  undo_.remember(content_, what);
  const Constraints before = std::exchange(content_.constraints, std::move(next));
  const auto still_demanded = [&](const UserConstraint& c) {
    return !c.enabled || std::find(content_.constraints.begin(), content_.constraints.end(), c) != content_.constraints.end();
  };
  view_.highlight = {};
  judge_again(std::all_of(before.begin(), before.end(), still_demanded));
  changed();
  if (solve) solve_proposal(what);
}

void Session::on(const ToggleConstraint& c) {
  if (c.index >= content_.constraints.size()) return;
  Constraints next = content_.constraints;
  UserConstraint& constraint = next[c.index];
  constraint.enabled = !constraint.enabled;
  const std::string what = (constraint.enabled ? "switch on " : "switch off ") + constraint.name;
  constrain(std::move(next), what, false);
}

void Session::on(const AddConstraint& c) {
  if (!content_.problem) return;
  Constraints next = content_.constraints;
  next.push_back(c.constraint);
  if (next.back().name.empty()) next.back().name = describe(next.back());
  const std::string what = next.back().name;
  const bool numbered = c.constraint.kind == ConstraintKind::InGroup || c.constraint.kind == ConstraintKind::NotInGroup;
  const ScheduleEntry* entry = content_.entry();
  const OpId op = c.constraint.ops.size() == 1 ? content_.problem->find_op(c.constraint.ops.front()) : OpId{};
  if (c.hold_group && numbered && entry && op.valid() && c.constraint.low >= 0 && fits(*content_.problem, entry->schedule))
    hold_group(*content_.problem, entry->schedule, GroupId(static_cast<std::size_t>(c.constraint.low)), op, next);
  constrain(std::move(next), what, c.solve);
}

void Session::on(const ReplaceConstraint& c) {
  if (c.index >= content_.constraints.size()) return;
  Constraints next = content_.constraints;
  next[c.index] = c.constraint;
  if (next[c.index].name.empty()) next[c.index].name = describe(next[c.index]);
  const std::string what = "change to " + next[c.index].name;
  constrain(std::move(next), what, c.solve);
}

void Session::on(const RemoveConstraint& c) {
  if (c.index >= content_.constraints.size()) return;
  Constraints next = content_.constraints;
  const std::string what = "remove " + next[c.index].name;
  next.erase(next.begin() + static_cast<std::ptrdiff_t>(c.index));
  drop_idle_frames(next);
  constrain(std::move(next), what, false);
}

void Session::on(const MoveOp& c) {
  const ScheduleEntry* entry = content_.entry();
  if (!entry || !c.op.valid() || c.op.index() >= content_.problem->ops.size()) return;
  if (!fits(*content_.problem, entry->schedule) || (!c.pin && !c.group)) return;
  MoveOp move = c;
  // Nothing legal lies further out than all stages there are.
  const Cycle far = sat_mul(entry->schedule.ii, kFarthestStage);
  move.start = std::clamp(move.start, -far, far);
  Proposal proposal = propose_move(*content_.problem, content_.constraints, entry->schedule, move);
  if (proposal.name.empty()) return;
  constrain(std::move(proposal.constraints), proposal.name, true);
}

void Session::on(const TogglePin& c) {
  if (!content_.problem || !c.op.valid() || c.op.index() >= content_.problem->ops.size()) return;
  const std::string& name = content_.problem->op(c.op).name;
  const bool pinned = std::any_of(content_.constraints.begin(), content_.constraints.end(),
                                  [&](const UserConstraint& u) { return pins(u, name); });
  on(PinOps{{c.op}, !pinned});
}

void Session::on(const PinOps& c) {
  const ScheduleEntry* entry = content_.entry();
  if (!entry || !fits(*content_.problem, entry->schedule)) return;
  std::vector<OpId> ops;
  for (const OpId op : c.ops)
    if (op.valid() && op.index() < content_.problem->ops.size()) ops.push_back(op);
  if (ops.empty()) return;
  Proposal proposal = propose_pins(*content_.problem, content_.constraints, entry->schedule, ops, c.pin);
  if (proposal.constraints == content_.constraints) return;
  constrain(std::move(proposal.constraints), proposal.name, false);
}

bool Session::change_numbers(Changes next, const std::string& what) {
  if (!content_.problem) return false;
  Content before = content_;
  content_.changes = std::move(next);
  if (const auto error = resolve_content()) {
    content_ = std::move(before);
    fail(what + " does not work", *error);
    return false;
  }
  abandon_job("the numbers changed");
  undo_.remember(std::move(before), what);
  view_.highlight = {};
  content_.problem = same_as_asked(content_.problem);
  judge_again();
  recall_answers();
  changed();
  return true;
}

void Session::on(const SwitchMachine& c) {
  if (!content_.kernel) return on(OpenMachine{c.name});
  if (content_.dump) return refuse_machine(c.name);
  auto machine = load_machine(c.name);
  if (!machine) return fail("Cannot open machine " + base_name(c.name), machine.error());
  Content before = content_;
  content_.machine = std::make_shared<const Machine>(std::move(*machine));
  if (const auto error = resolve_content()) {
    const std::string name = content_.machine->name;
    content_ = std::move(before);
    return fail(fmt::format("{} cannot be scheduled on {} as it stands", content_.kernel->name, name), *error);
  }
  abandon_job("the machine changed");
  undo_.remember(std::move(before), "machine " + content_.machine->name);
  content_.problem = same_as_asked(content_.problem);
  std::vector<EntryPtr> kept;
  std::optional<std::size_t> shown, baseline;
  for (std::size_t i = 0; i < content_.schedules.size(); ++i) {
    if (!fits(*content_.problem, content_.schedules[i]->schedule)) continue;
    if (content_.shown == i) shown = kept.size();
    if (content_.baseline == i) baseline = kept.size();
    ScheduleEntry entry = *content_.schedules[i];
    entry.schedule.machine = content_.problem->machine;
    kept.push_back(std::make_shared<const ScheduleEntry>(std::move(entry)));
  }
  if (!shown && !kept.empty()) shown = 0;
  content_.schedules = std::move(kept);
  content_.shown = shown;
  content_.baseline = baseline == shown ? std::nullopt : baseline;
  judge_again();
  recall_answers();
  view_.fit_all = true;
  changed();
  if (c.solve && why_no_solve().empty()) on(StartSolve{});
}

void Session::on(const SetChange& c) {
  Changes next = content_.changes;
  put(next, c.change);
  if (change_numbers(std::move(next), describe(c.change)) && c.solve && why_no_solve().empty()) on(StartSolve{});
}

void Session::on(const RemoveChange& c) {
  if (c.index >= content_.changes.size()) return;
  Changes next = content_.changes;
  const std::string what = "take back " + describe(next[c.index]);
  next.erase(next.begin() + static_cast<std::ptrdiff_t>(c.index));
  if (change_numbers(std::move(next), what) && c.solve && why_no_solve().empty()) on(StartSolve{});
}

void Session::on(const ToggleChange& c) {
  if (c.index >= content_.changes.size()) return;
  Changes next = content_.changes;
  next[c.index].enabled = !next[c.index].enabled;
  change_numbers(std::move(next), (next[c.index].enabled ? "switch on " : "switch off ") + describe(next[c.index]));
}

}  // namespace heddle::app
