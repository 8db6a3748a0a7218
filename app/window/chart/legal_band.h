// Where a bar may be dropped.
#pragma once

#include "app/window/chart/bar_move.h"
#include "core/answers/slack.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// What stands still is what a drop would hold (session/proposal.h): pinned ops, or the frame. `answer` is one to the slack
/// of this very schedule under these constraints, or null; where it knows the op exactly, so does the band. Without it, and
/// where the problem is small enough to do it between two frames, longest paths in as many stages as the schedule has.
LegalBand legal_band(const Problem& problem, const Constraints& constraints, const Schedule& schedule, OpId op, const SlackRanges* answer);

}  // namespace heddle::app
