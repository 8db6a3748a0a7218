// What tells circles of steps apart: two circles of one signature are the same program of a warp group.
#pragma once

#include <cstddef>
#include <string>

#include "core/motion/circle.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::programs {

/// One word per step, from the first issue of the group's first mma on (of its first op where it has none); arithmetic steps that follow
/// each other are one, with the sum of their work: in what order a stretch without waits does its work makes no difference.
///
///   a<alone>.<reads>.<specials>.<issue>       arithmetic
///   i<op>.<count>.<each>.<held>.<r or s>.<f><l>  mma instructions; from registers or shared memory; the first, the last of the op
///   c<op>.<held>.<latency>                    a copy
///   w<op>.<turns>.<extra>.<ready>             a wait; `turns`: how many turns of the circle ago it was issued, of an op of another
///   consumer
///                                             how many iterations ago; of the producer's nothing, since loads follow their readers
///   r<channel>                                a wait for a free slot
///   t<turn>, p<turn>                          a turn begins, ends
///
/// Ops of the group are named by their place among its ops by number and turns by their place among the group's, so that groups that are
/// copies of each other have the same signatures. Ops of other consumers are named by how many groups on, and their place there; the
/// producer's by number.
std::string signature(const Problem& problem, const Schedule& groups, const motion::Circles& circles, GroupId group);

}  // namespace heddle::programs
