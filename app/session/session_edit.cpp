// Proposals: constraints and changed numbers, put in force as steps of undo.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/session.h"
#include "core/io/constraints_json.h"

namespace heddle::app {

void Session::constrain(Constraints next, const std::string& what, bool solve) {
  abandon_job("the constraints changed");
  undo_.remember(content_, what);
  content_.constraints = std::move(next);
  view_.highlight = {};
  judge_again();
  changed();
  if (solve && why_no_solve().empty()) on(StartSolve{});
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
  constrain(std::move(next), what, false);
}

void Session::on(const MoveOp& c) {
  if (!content_.problem || !c.op.valid() || c.op.index() >= content_.problem->ops.size()) return;
  UserConstraint pin;
  pin.kind = ConstraintKind::Pin;
  pin.ops = {content_.problem->op(c.op).name};
  pin.low = std::max<Cycle>(c.start, 0);
  Constraints next = content_.constraints;
  std::erase_if(next, [&](const UserConstraint& u) { return u.kind == ConstraintKind::Pin && u.ops == pin.ops; });
  pin.name = describe(pin);
  next.push_back(pin);
  constrain(std::move(next), pin.name, true);
}

void Session::on(const TogglePin& c) {
  const ScheduleEntry* entry = content_.entry();
  if (!entry || !c.op.valid() || c.op.index() >= content_.problem->ops.size()) return;
  const std::string& name = content_.problem->op(c.op).name;
  Constraints next = content_.constraints;
  const auto is_pin = [&](const UserConstraint& u) {
    return u.kind == ConstraintKind::Pin && u.ops == std::vector<std::string>{name};
  };
  if (std::erase_if(next, is_pin) > 0) return constrain(std::move(next), "unpin " + name, false);
  UserConstraint pin;
  pin.ops = {name};
  pin.low = entry->schedule.start(c.op);
  pin.name = describe(pin);
  next.push_back(pin);
  constrain(std::move(next), pin.name, false);
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
  judge_again();
  changed();
  return true;
}

void Session::on(const SetChange& c) {
  Changes next = content_.changes;
  put(next, c.change);
  change_numbers(std::move(next), describe(c.change));
}

void Session::on(const RemoveChange& c) {
  if (c.index >= content_.changes.size()) return;
  Changes next = content_.changes;
  const std::string what = "take back " + describe(next[c.index]);
  next.erase(next.begin() + static_cast<std::ptrdiff_t>(c.index));
  change_numbers(std::move(next), what);
}

void Session::on(const ToggleChange& c) {
  if (c.index >= content_.changes.size()) return;
  Changes next = content_.changes;
  next[c.index].enabled = !next[c.index].enabled;
  change_numbers(std::move(next), (next[c.index].enabled ? "switch on " : "switch off ") + describe(next[c.index]));
}

}  // namespace heddle::app
