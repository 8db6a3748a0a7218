// What waiting and signalling costs the instruction streams of warp groups, beyond the hand-off latencies of the problem.
#pragma once

#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// Charges to the problem what barriers take of this schedule's streams (StreamCosts):
///   - a ring that crosses groups: its writer waits for the empty slot, the first reader of each other group for the full one, and the last
///     reader of each, or a writer that copies by its own instructions, arrives;
///   - what waits for a product (wgmma) of its own group starts `product_wait` later.
/// Pre: the schedule's sizes fit the problem.
void charge_barriers(Problem& problem, const Schedule& schedule, const StreamCosts& costs);

}  // namespace heddle
