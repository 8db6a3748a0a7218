// From a schedule for some numbers to one for larger ones, by inserting idle cycles: after every start of an op whose cost grew by
// d, everything that starts later waits d cycles longer. Order, overlap of iterations, groups, depths and what is alive together
// stay, so II grows by the sum of all d and by no more: a least II bounds the least II for other numbers, from both sides.
#pragma once

#include <optional>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// Per op, by how much the cycles counted from its start (window, unit uses, edges, holds, releases) are larger in `hard` than in
/// `easy`. Nothing when that is not all that is stricter, when a number grows from 0 (what starts together may then not), or when
/// a unit use has an offset (its distance to others may not grow).
std::optional<std::vector<Cycle>> growth(const Problem& easy, const Problem& hard);

/// The sum of growth(): the least II of `hard` is at most that of `easy` plus this. Holds with user constraints that never limit
/// how far apart two starts are.
std::optional<Cycle> stretch_bound(const Problem& easy, const Problem& hard);

/// The schedule with the idle cycles inserted; depths, warps and registers as they were.
Schedule stretched(Schedule schedule, const std::vector<Cycle>& growth);

}  // namespace heddle
