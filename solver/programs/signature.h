// What tells circles of steps apart: two circles of one signature are the same program of a warp group.
#pragma once

#include <string>
#include <vector>

#include "core/motion/circle.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::programs {

/// The steps from the group's first turn on (without turns from its first mma) in words, with one blank between:
///
///   t, p            takes, passes a turn
///   i0              issues mma 0; where arithmetic runs inside it: f0 its first instruction, l0 the others
///   w0              waits for the newest mma 0 that was issued; w0-1: for the one before that
///   a{1,2,4/2}      a stretch of arithmetic, whose order makes no difference: its ops by number; 4/2 is half of op 4
///   c3              starts a copy
///   |               a wait for loads or for a slot of a ring, or for a copy, that parts two stretches of arithmetic; where it parts none
///   it
///                   is not written: it follows from the ops
///   x+1:5-0         waits for op 5 of the next consumer, of this iteration
///
/// Ops are called by their number in the group's ops in the order of the problem, so that groups that are copies of each other have the
/// same signatures. How many iterations an op lags behind its loads is not written.
std::string signature(const Problem& problem, const Schedule& groups, const std::vector<motion::CircleStep>& circle, GroupId group);

}  // namespace heddle::programs
