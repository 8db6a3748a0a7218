// What a dropped bar means as constraints.
//
// A schedule can be shifted as a whole, and groups of equal width can trade numbers. A pin alone would therefore be met by
// shifting everything, and "in group 2" by renaming groups: nothing would move as seen. So the first pin brings a second
// one, the frame: another op keeps its start, and likewise another op of the group keeps its group. Frames are constraints
// like all others (named "frame: ...", listed, switchable) and go with the last pin that needed them.
#pragma once

#include <string>
#include <vector>

#include "app/session/commands.h"
#include "app/session/document.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// Held in place only so that another constraint means what was seen.
bool is_frame(const UserConstraint& constraint);

/// The op that stands still while this one moves: of the others the one that starts first. Invalid when there is no other.
OpId frame_op(const Problem& problem, const Schedule& schedule, OpId moving);

/// Cycles from the schedule's own starts to those the pins speak of: not 0 when the pins were made for another schedule
/// that started earlier.
Cycle frame_shift(const Problem& problem, const Constraints& constraints, const Schedule& schedule);

struct Proposal {
  Constraints constraints;
  std::string name;  ///< "pin QK1 at 640"; also that of the schedule that comes of it
};

/// An earlier pin or group of this op gives way. A start before cycle 0 shifts all pins and ranges later by as much.
/// Pre: the op exists, the schedule fits the problem.
Proposal propose_move(const Problem& problem, const Constraints& constraints, const Schedule& schedule, const MoveOp& move);
/// Pins ops where they are, or takes their pins away.
Proposal propose_pins(const Problem& problem, const Constraints& constraints, const Schedule& schedule, const std::vector<OpId>& ops,
                      bool pin);
/// Adds what makes the group's number mean the same group as in the schedule, unless something does already.
void hold_group(const Problem& problem, const Schedule& schedule, GroupId group, OpId but, Constraints& constraints);
/// Takes away frames that no other constraint needs any more.
void drop_idle_frames(Constraints& constraints);

bool pins(const UserConstraint& constraint, const std::string& op);
/// Pins those that are not, or, when all of them are pinned, takes their pins away.
PinOps toggled_pins(const Problem& problem, const Constraints& constraints, const std::vector<OpId>& ops);

/// As many stages as lie before the farthest pin; 0 without one. A solve must allow at least so many.
int stages_wanted(const Content& content);

}  // namespace heddle::app
