// Tensor memory by threads: allocation, tcgen05.ld and st with their waits, and tcgen05.fence.
#pragma once

#include "ptx/run/cluster.h"

namespace heddle::ptx {

/// alloc, dealloc, relinquish_alloc_permit
ActionEnd tensor_alloc(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
ActionEnd tensor_free(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
ActionEnd tensor_relinquish(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// ld, st
ActionEnd tensor_move(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// wait::ld, wait::st
ActionEnd tensor_wait(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// fence::before_thread_sync, fence::after_thread_sync
ActionEnd tensor_fence(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// At the end of a run: what was never freed.
void judge_tensor_memory_at_end(ClusterRun& run);

}  // namespace heddle::ptx
