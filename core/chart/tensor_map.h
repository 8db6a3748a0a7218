// Tensor memory over time: which value holds which columns, from its writer's start until its last reader is done. A lane for each
// storage of the loop, rings slot by slot, drawn as lanes of barriers are (core/chart/barrier_lanes.h).
#pragma once

#include <vector>

#include "core/chart/barrier_lanes.h"
#include "core/kernel/kernel.h"

namespace heddle {

/// Rings in the order of the problem's channels, then what lives as long as the loop in the order of the kernel's values; columns are
/// counted in this order, as a written kernel lays them out (which may double an accumulator from tile to tile where there is room).
/// Empty where the loop keeps nothing in tensor memory. Pre: the problem was resolved from the kernel; as for barrier_lanes.
std::vector<BarrierLane> tensor_map(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const BarrierRange& range);

}  // namespace heddle
