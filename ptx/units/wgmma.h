// wgmma: products of warp groups, asynchronous, with operands in shared memory or registers and accumulators in registers.
#pragma once

#include "ptx/run/cluster.h"

namespace heddle::ptx {

ActionEnd wgmma_fence(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
ActionEnd wgmma_product(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
ActionEnd wgmma_commit(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
ActionEnd wgmma_wait(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// Products in no group, of a warp that exits.
void judge_products_at_exit(ClusterRun& run, const Warp& warp);

}  // namespace heddle::ptx
