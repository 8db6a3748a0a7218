#include "app/session/proposal.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "core/formats/constraints_json.h"

namespace heddle::app {
namespace {

constexpr std::string_view kFrame = "frame: ";

bool holds_time(const UserConstraint& c) { return c.enabled && c.kind == ConstraintKind::Pin; }
bool speaks_of_time(const UserConstraint& c) { return c.kind == ConstraintKind::Pin || c.kind == ConstraintKind::Range; }
bool speaks_of_groups(const UserConstraint& c) { return c.kind == ConstraintKind::InGroup || c.kind == ConstraintKind::NotInGroup; }
bool of_op_alone(const UserConstraint& c, const std::string& op) { return c.ops.size() == 1 && c.ops.front() == op; }

UserConstraint about(ConstraintKind kind, const std::string& op, std::int64_t low) {
  UserConstraint c;
  c.kind = kind;
  c.ops = {op};
  c.low = low;
  c.name = describe(c);
  return c;
}

UserConstraint frame(UserConstraint c) {
  c.name = std::string(kFrame) + c.name;
  return c;
}

void shift_pins(Constraints& constraints, Cycle by) {
  for (UserConstraint& c : constraints) {
    if (!speaks_of_time(c)) continue;
    const bool named = c.name == describe(c), framed = c.name == std::string(kFrame) + describe(c);
    c.low += by;
    if (c.kind == ConstraintKind::Range) c.high += by;
    if (named) c.name = describe(c);
    if (framed) c.name = std::string(kFrame) + describe(c);
  }
}

}  // namespace

bool is_frame(const UserConstraint& constraint) { return constraint.name.compare(0, kFrame.size(), kFrame) == 0; }

bool pins(const UserConstraint& constraint, const std::string& op) {
  return constraint.kind == ConstraintKind::Pin && of_op_alone(constraint, op);
}

OpId frame_op(const Problem& problem, const Schedule& schedule, OpId moving) {
  OpId first;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (OpId(v) != moving && (!first.valid() || schedule.ops[v].start < schedule.start(first))) first = OpId(v);
  return first;
}

Cycle frame_shift(const Problem& problem, const Constraints& constraints, const Schedule& schedule) {
  // Pins that were asked for may be unmet because they move their op, or met by chance; a frame never asks for a move.
  for (const UserConstraint& c : constraints) {
    if (!holds_time(c) || !is_frame(c) || c.ops.size() != 1) continue;
    if (const OpId op = problem.find_op(c.ops.front()); op.valid()) return c.low - schedule.start(op);
  }
  return 0;
}

void hold_group(const Problem& problem, const Schedule& schedule, GroupId group, OpId but, Constraints& constraints) {
  if (problem.has_producer_group() && group.index() == 0) return;  // its number means something by itself
  const auto number = static_cast<std::int64_t>(group.index());
  const std::string& name = problem.op(but).name;
  const bool held = std::any_of(constraints.begin(), constraints.end(), [&](const UserConstraint& c) {
    return c.enabled && c.kind == ConstraintKind::InGroup && c.low == number && !of_op_alone(c, name);
  });
  if (held) return;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    if (OpId(v) == but || schedule.ops[v].group != group) continue;
    constraints.push_back(frame(about(ConstraintKind::InGroup, problem.ops[v].name, number)));
    return;
  }
}

void drop_idle_frames(Constraints& constraints) {
  const auto needed = [&](bool (*speaks)(const UserConstraint&)) {
    return std::any_of(constraints.begin(), constraints.end(), [&](const UserConstraint& c) { return !is_frame(c) && speaks(c); });
  };
  const bool time = needed(speaks_of_time), groups = needed(speaks_of_groups);
  std::erase_if(constraints,
                [&](const UserConstraint& c) { return is_frame(c) && ((speaks_of_time(c) && !time) || (speaks_of_groups(c) && !groups)); });
}

Proposal propose_move(const Problem& problem, const Constraints& constraints, const Schedule& schedule, const MoveOp& move) {
  const std::string& name = problem.op(move.op).name;
  Proposal proposal{constraints, {}};
  Constraints& next = proposal.constraints;
  if (move.pin) {
    Cycle start = move.start + frame_shift(problem, constraints, schedule);
    std::erase_if(next, [&](const UserConstraint& c) { return pins(c, name); });
    if (std::none_of(next.begin(), next.end(), holds_time)) {
      const Cycle shift = start - move.start;
      if (const OpId still = frame_op(problem, schedule, move.op); still.valid())
        next.push_back(frame(about(ConstraintKind::Pin, problem.op(still).name, schedule.start(still) + shift)));
    }
    // Starts begin at 0. What lies before it takes everything that speaks of cycles along.
    if (start < 0) {
      shift_pins(next, -start);
      start = 0;
    }
    next.push_back(about(ConstraintKind::Pin, name, start));
    proposal.name = next.back().name;
  }
  if (move.group && move.group->index() < schedule.groups.size()) {
    std::erase_if(next, [&](const UserConstraint& c) {
      return speaks_of_groups(c) && of_op_alone(c, name) &&
             (c.kind == ConstraintKind::InGroup || c.low == static_cast<std::int64_t>(move.group->index()));
    });
    hold_group(problem, schedule, *move.group, move.op, next);
    next.push_back(about(ConstraintKind::InGroup, name, static_cast<std::int64_t>(move.group->index())));
    proposal.name = proposal.name.empty() ? next.back().name : fmt::format("{}, in group {}", proposal.name, move.group->index());
  }
  drop_idle_frames(next);
  return proposal;
}

Proposal propose_pins(const Problem& problem, const Constraints& constraints, const Schedule& schedule, const std::vector<OpId>& ops,
                      bool pin) {
  Proposal proposal{constraints, {}};
  const Cycle shift = frame_shift(problem, constraints, schedule);
  for (const OpId op : ops) {
    const std::string& name = problem.op(op).name;
    std::erase_if(proposal.constraints, [&](const UserConstraint& c) { return pins(c, name); });
    if (pin) proposal.constraints.push_back(about(ConstraintKind::Pin, name, std::max<Cycle>(0, schedule.start(op) + shift)));
  }
  drop_idle_frames(proposal.constraints);
  const std::string first = ops.empty() ? "" : problem.op(ops.front()).name;
  proposal.name = ops.size() != 1 ? fmt::format("{} {} ops", pin ? "pin" : "unpin", ops.size())
                  : pin           ? proposal.constraints.back().name
                                  : "unpin " + first;
  return proposal;
}

PinOps toggled_pins(const Problem& problem, const Constraints& constraints, const std::vector<OpId>& ops) {
  PinOps loose;
  for (const OpId op : ops)
    if (std::none_of(constraints.begin(), constraints.end(), [&](const UserConstraint& c) { return pins(c, problem.op(op).name); }))
      loose.ops.push_back(op);
  return loose.ops.empty() ? PinOps{ops, false} : loose;
}

int stages_wanted(const Content& content) {
  constexpr Cycle kMost = 64;
  const ScheduleEntry* present = content.entry();
  const Cycle ii = std::max<Cycle>(1, present ? present->schedule.ii : content.bounds->min_ii());
  Cycle stages = 0;
  for (const UserConstraint& c : content.constraints)
    if (c.enabled && (c.kind == ConstraintKind::Pin || c.kind == ConstraintKind::Range)) stages = std::max(stages, c.low / ii + 2);
  return static_cast<int>(std::min(stages, kMost));
}

}  // namespace heddle::app
