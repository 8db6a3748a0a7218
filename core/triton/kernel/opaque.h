// Work on tiles that no kind of Heddle's expresses: scans, tiles of three dimensions, inline assembly. It takes part in the schedule with
// an estimate of what it costs, and cannot be executed or written as CUDA.
#pragma once

#include <cstddef>
#include <vector>

#include "core/triton/kernel/kernel_draft.h"

namespace heddle::triton {

/// One op for these nodes of the graph, whose values are made (draft.in_registers); `why`: what could not be expressed. A note says both.
void add_opaque(LoopKernelDraft& draft, const std::vector<std::size_t>& nodes, const std::string& why);

}  // namespace heddle::triton
