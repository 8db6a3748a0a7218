// Products and matrix moves that a warp does itself: mma.sync, wmma, ldmatrix, stmatrix, movmatrix. Numbers are unknown, bytes exact.
#pragma once

#include "ptx/run/cluster.h"

namespace heddle::ptx {

/// mma.sync, mma.sp, wmma.mma, movmatrix: registers only.
ActionEnd warp_product(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// ldmatrix, stmatrix
ActionEnd matrix_rows(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// wmma.load, wmma.store
ActionEnd matrix_tile(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);

}  // namespace heddle::ptx
