// Tiles between registers and shared memory, and between registers of different warps: by which instructions, and what lanes that meet
// cost.
#pragma once

#include <optional>
#include <vector>

#include "core/layout/measured_kernel.h"

namespace heddle {

/// A tile from registers to shared memory or back. What was chosen and cannot be is a fault at "/instructions/OP" or "/layouts/VALUE".
std::optional<OpPlan> plan_transfer(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op, std::vector<Fault>& faults);

/// A copy or conversion to registers that lie otherwise afterwards; nothing where they do not. The type changes first, where they are; but
/// where f32 are only other registers of the same thread, narrower numbers are put together of those.
std::optional<OpPlan> plan_change(const MeasuredKernel& of, const LayoutPlan& plan, const TileOp& op, std::vector<Fault>& faults);

/// A tile's bytes through the port as if no lanes met; `exchanged`: each element passes a select.
AccessCost uncounted(const MeasuredKernel& of, std::size_t v, bool exchanged);

}  // namespace heddle
