// Facts about user constraints that the search needs.
#pragma once

#include "core/schedule/constraints.h"

namespace heddle::solver {

/// Some constraint speaks of absolute cycles or stages: a schedule can no longer be shifted freely.
bool fixes_rotation(const Constraints& constraints);

/// Some constraint speaks of a group by its number: groups can no longer be renumbered.
bool names_groups(const Constraints& constraints);

}  // namespace heddle::solver
