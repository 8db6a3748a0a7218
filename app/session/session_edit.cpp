// Proposals: constraints and changed numbers, put in force as steps of undo.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/session/files.h"
#include "app/session/proposal.h"
#include "app/session/session_core.h"
#include "core/answers/layout_choice.h"
#include "core/base/saturate.h"
#include "core/formats/constraints_json.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

constexpr Cycle kFarthestStage = 64;  ///< that a drop can ask for

}  // namespace

void SessionCore::constrain(Constraints next, const std::string& what, bool solve) {
  abandon_job("the constraints changed");
  document_.undo.remember(document_.content, what);
  const Asked before = asked_now();
  document_.content.constraints = std::move(next);
  view_.highlight = {};
  judge_again(before);
  changed();
  if (solve) solve_proposal(what);
}

void SessionCore::on(const ToggleConstraint& c) {
  if (c.index >= document_.content.constraints.size()) return;
  Constraints next = document_.content.constraints;
  UserConstraint& constraint = next[c.index];
  constraint.enabled = !constraint.enabled;
  const std::string what = (constraint.enabled ? "switch on " : "switch off ") + constraint.name;
  constrain(std::move(next), what, false);
  if (c.solve) solve_changed(what);
}

void SessionCore::on(const AddConstraint& c) {
  if (!document_.content.problem) return;
  Constraints next = document_.content.constraints;
  next.push_back(c.constraint);
  if (next.back().name.empty()) next.back().name = describe(next.back());
  const std::string what = next.back().name;
  const bool numbered = c.constraint.kind == ConstraintKind::InGroup || c.constraint.kind == ConstraintKind::NotInGroup;
  const ScheduleEntry* entry = document_.content.entry();
  const OpId op = c.constraint.ops.size() == 1 ? document_.content.problem->find_op(c.constraint.ops.front()) : OpId{};
  if (c.hold_group && numbered && entry && op.valid() && c.constraint.low >= 0 && fits(*document_.content.problem, entry->schedule))
    hold_group(*document_.content.problem, entry->schedule, GroupId(static_cast<std::size_t>(c.constraint.low)), op, next);
  constrain(std::move(next), what, c.solve);
}

void SessionCore::on(const ReplaceConstraint& c) {
  if (c.index >= document_.content.constraints.size()) return;
  Constraints next = document_.content.constraints;
  next[c.index] = c.constraint;
  if (next[c.index].name.empty()) next[c.index].name = describe(next[c.index]);
  const std::string what = "change to " + next[c.index].name;
  constrain(std::move(next), what, c.solve);
}

void SessionCore::on(const RemoveConstraint& c) {
  if (c.index >= document_.content.constraints.size()) return;
  Constraints next = document_.content.constraints;
  const std::string what = "remove " + next[c.index].name;
  next.erase(next.begin() + static_cast<std::ptrdiff_t>(c.index));
  drop_idle_frames(next);
  constrain(std::move(next), what, false);
}

void SessionCore::on(const MoveOp& c) {
  const ScheduleEntry* entry = document_.content.entry();
  if (!entry || !c.op.valid() || c.op.index() >= document_.content.problem->ops.size()) return;
  if (!fits(*document_.content.problem, entry->schedule) || (!c.pin && !c.group)) return;
  MoveOp move = c;
  // Nothing legal lies further out than all stages there are.
  const Cycle far = sat_mul(entry->schedule.ii, kFarthestStage);
  move.start = std::clamp(move.start, -far, far);
  Proposal proposal = propose_move(*document_.content.problem, document_.content.constraints, entry->schedule, move);
  if (proposal.name.empty()) return;
  constrain(std::move(proposal.constraints), proposal.name, true);
}

void SessionCore::on(const TogglePin& c) {
  if (!document_.content.problem || !c.op.valid() || c.op.index() >= document_.content.problem->ops.size()) return;
  const std::string& name = document_.content.problem->op(c.op).name;
  const bool pinned = std::any_of(document_.content.constraints.begin(), document_.content.constraints.end(),
                                  [&](const UserConstraint& u) { return pins(u, name); });
  on(PinOps{{c.op}, !pinned});
}

void SessionCore::on(const PinOps& c) {
  const ScheduleEntry* entry = document_.content.entry();
  if (!entry || !fits(*document_.content.problem, entry->schedule)) return;
  std::vector<OpId> ops;
  for (const OpId op : c.ops)
    if (op.valid() && op.index() < document_.content.problem->ops.size()) ops.push_back(op);
  if (ops.empty()) return;
  Proposal proposal = propose_pins(*document_.content.problem, document_.content.constraints, entry->schedule, ops, c.pin);
  if (proposal.constraints == document_.content.constraints) return;
  constrain(std::move(proposal.constraints), proposal.name, false);
}

bool SessionCore::put_in_force(Content next, const std::string& what, const char* why) {
  if (!document_.content.problem) return false;
  Content before = std::exchange(document_.content, std::move(next));
  if (const auto error = resolve_content()) {
    document_.content = std::move(before);
    fail(what + " does not work", *error);
    return false;
  }
  abandon_job(why);
  const Asked asked{before.problem, before.constraints};
  document_.undo.remember(std::move(before), what);
  view_.highlight = {};
  document_.content.problem = same_as_asked(document_.content.problem);
  judge_again(asked);
  recall_answers();
  changed();
  return true;
}

bool SessionCore::change_numbers(Changes next, const std::string& what) {
  Content content = document_.content;
  content.changes = std::move(next);
  return put_in_force(std::move(content), what, "the numbers changed");
}

void SessionCore::on(const SwitchMachine& c) {
  if (!document_.content.kernel && !document_.content.triton) return on(OpenMachine{c.name});
  if (document_.content.dump) return refuse_machine(c.name);
  if (document_.content.triton) return switch_triton_machine(c.name);
  auto machine = load_machine(c.name);
  if (!machine) return fail("Cannot open machine " + base_name(c.name), machine.error());
  Content before = document_.content;
  document_.content.machine = std::make_shared<const Machine>(std::move(*machine));
  document_.content.machine_text = nullptr;
  attach_texts(document_.content);
  if (const auto error = resolve_content()) {
    const std::string name = document_.content.machine->name;
    document_.content = std::move(before);
    return fail(fmt::format("{} cannot be scheduled on {} as it stands", document_.content.kernel->name, name), *error);
  }
  abandon_job("the machine changed");
  const Asked asked{before.problem, before.constraints};
  const std::string what = "machine " + document_.content.machine->name;
  document_.undo.remember(std::move(before), what);
  document_.content.problem = same_as_asked(document_.content.problem);
  keep_rows(Content(document_.content));
  judge_again(asked);
  recall_answers();
  view_.fit_all = true;
  changed();
  if (c.solve) solve_changed(what);
}

void SessionCore::on(const SetChange& c) {
  Changes next = document_.content.changes;
  put(next, c.change);
  const std::string what = describe(c.change);
  if (change_numbers(std::move(next), what) && c.solve) solve_changed(what);
}

void SessionCore::on(const RemoveChange& c) {
  if (c.index >= document_.content.changes.size()) return;
  Changes next = document_.content.changes;
  const std::string what = "take back " + describe(next[c.index]);
  next.erase(next.begin() + static_cast<std::ptrdiff_t>(c.index));
  if (change_numbers(std::move(next), what) && c.solve) solve_changed(what);
}

void SessionCore::on(const ChooseLayouts& c) {
  std::string what = !c.what.empty() ? c.what : choices_in_words(c.choices);
  if (what.empty()) what = "layouts by default";
  if (choose_layouts(c.choices, what) && c.solve) solve_changed(what);
}

void SessionCore::lay_out(Content& next, LayoutChoices choices) {
  const LayoutChoices before = std::exchange(next.choices, std::move(choices));
  // Rows go with the question, as they do when a number changes; those of yet other layouts, which were opened to compare, stay what they
  // are.
  for (EntryPtr& entry : next.schedules) {
    if (entry->schedule.layouts != before) continue;
    ScheduleEntry row = *entry;
    row.schedule.layouts = next.choices;
    entry = std::make_shared<const ScheduleEntry>(std::move(row));
  }
}

bool SessionCore::choose_layouts(const LayoutChoices& choices, const std::string& what) {
  if (!document_.content.problem || choices == document_.content.choices) return false;
  Content next = document_.content;
  lay_out(next, choices);
  return put_in_force(std::move(next), what, "the layouts changed");
}

void SessionCore::on(const ToggleChange& c) {
  if (c.index >= document_.content.changes.size()) return;
  Changes next = document_.content.changes;
  next[c.index].enabled = !next[c.index].enabled;
  change_numbers(std::move(next), (next[c.index].enabled ? "switch on " : "switch off ") + describe(next[c.index]));
}

}  // namespace heddle::app
