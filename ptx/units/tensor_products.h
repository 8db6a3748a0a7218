// What tensor cores do with tensor memory by themselves: tcgen05.mma, cp, shift, and commit, which signals when they are done.
#pragma once

#include "ptx/run/cluster.h"

namespace heddle::ptx {

/// mma, mma.ws
ActionEnd tensor_product(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// cp: shared memory -> tensor memory
ActionEnd tensor_copy(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
ActionEnd tensor_shift(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
ActionEnd tensor_commit(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);

}  // namespace heddle::ptx
