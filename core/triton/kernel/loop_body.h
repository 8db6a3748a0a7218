// Ops of the loop.
#pragma once

#include "core/triton/kernel/kernel_draft.h"

namespace heddle::triton {

/// Ops of the loop, each with its origin, and the orders that memory and accumulators ask for. Stops at the first that is refused.
void add_body(LoopKernelDraft& draft);

}  // namespace heddle::triton
