// How many pipeline stages are always enough: what makes a refutation hold for any number of stages.
//
// If there is a schedule at this II, there is one with at most this many stages. Take any schedule and a set S of ops that
// contains, with an op, everything that reads it. When every dependence into S has at least II cycles to spare, all of S can
// start II cycles earlier: slots stay as they are, so units, issue streams and waits do not change; values that enter S live
// II cycles less, nothing lives longer, and rings are released earlier. Repeat until no such S is left (every step shortens
// the sum of all dependences, so it ends). Then every S has a tight dependence into it, one with less than II to spare, and
// from any op there is a way to any other that goes forward along tight dependences and backward along any dependence: the set
// of ops reached from one op is closed under predecessors, so what is not reached would be an S without a tight dependence.
// A forward step gains at most latency + hand-off - distance * II + II - 1 cycles, a backward step distance * II - latency; a
// way visits every strongly connected part once, and inside a part the longest paths bound every difference. The sum bounds
// the distance of any two starts. (Our own argument; with refills of rings at their greatest depth counted as dependences the
// parts are larger and often tighter, so the smaller of the two sums is taken.)
//
// An order of stages is a dependence too: start II cycles earlier, and the stage is one less.
//
// An op that stays at cycle 0 is followed by every other op, 0 cycles later or more: one dependence more out of it into each of
// them, whose forward step gains II - 1 and whose backward step gains nothing. A way leaves that op once.
#pragma once

#include <optional>

#include "core/problem/problem.h"
#include "core/schedule/constraints.h"

namespace heddle {

/// Nothing when constraints speak of absolute cycles or stages, or when a ring's reader does not follow its writer: then the
/// argument does not hold. Takes O(ops^3). Pre: ii >= 1.
std::optional<int> stage_bound(const Problem& problem, const Constraints& constraints, Cycle ii);

}  // namespace heddle
