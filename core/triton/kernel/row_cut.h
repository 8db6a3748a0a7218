// Which extents of a kernel's tiles are one and the same dimension, so that its tiles can be cut along one of them: rows for warp groups,
// or columns where one group has all rows.
#pragma once

#include "core/kernel/subtile.h"
#include "core/triton/kernel/kernel_draft.h"

namespace heddle::triton {

/// Makes the rows of the mmas' accumulators a parameter, or their columns, and says how it should be cut; factor 1: not at all.
Subtile name_dimensions(LoopKernelDraft& draft);

}  // namespace heddle::triton
