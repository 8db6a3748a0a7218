// User constraints one at a time, and the facts about them that the search needs.
#pragma once

#include <optional>
#include <string>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "solver/encoding/model.h"

namespace heddle::solver {

/// Adds a constraint that holds only while the literal answered is assumed. MaxRegisters gets kTrue and no formula: it is the
/// register family's (RegisterFamily::budget_at_most). Pre: constraint_faults finds nothing.
Lit add_guarded(Model& model, const UserConstraint& constraint);

/// What makes constraints meaningless for this problem (ops, groups or channels that do not exist), as sentences; empty when
/// nothing does.
std::string constraint_faults(const Problem& problem, const Constraints& constraints);

/// Some constraint speaks of absolute cycles or stages: a schedule can no longer be shifted freely.
bool fixes_rotation(const Constraints& constraints);

/// Whether a schedule for II that meets them can be had for II + 1 too. Not so when starts are held to absolute cycles: pins
/// at 0 and 12 on one unit fit II = 5 but collide at II = 6. Nor when an op may come a fixed number of cycles early.
bool monotone_in_ii(const Constraints& constraints);

/// A relaxation that is monotone in II although the constraints pin starts: a schedule for any II in [least, ii] that meets
/// the constraints becomes, stretched window by window, one for `ii` that meets these. Stretched from cycle 0 on, pins slide later
/// by as much as the windows before them grow; stretched from the first pin on (`centred`), those within one window of it keep
/// their start, but ops before it move earlier, so that all of it happens `windows` windows later. Nothing when no start is held.
struct SlidPins {
  Constraints constraints;
  int windows = 0;
};
std::optional<SlidPins> slide_pins(const Constraints& constraints, Cycle least, Cycle ii, bool centred);

/// Cycles by which the constraints may stretch a schedule: what lasted `n` cycles without them lasts at most that much more.
Cycle stretch(const Constraints& constraints);

/// Some constraint speaks of a group by its number: groups can no longer be renumbered.
bool names_groups(const Constraints& constraints);

}  // namespace heddle::solver
