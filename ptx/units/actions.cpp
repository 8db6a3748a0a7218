// Which unit carries out which instruction.
#include <fmt/format.h>

#include "ptx/run/cluster.h"
#include "ptx/units/async_copies.h"
#include "ptx/units/copies.h"
#include "ptx/units/launch_control.h"
#include "ptx/units/matrix_ops.h"
#include "ptx/units/tensor_memory.h"
#include "ptx/units/tensor_products.h"
#include "ptx/units/wgmma.h"

namespace heddle::ptx {
namespace {

ActionEnd refuse(ClusterRun& run, WarpFragment&, const PtxInstruction& instruction, LaneMask) {
  run.stop(instruction, fmt::format("{} is not known", instruction.mnemonic));
  return ActionEnd::Go;
}

}  // namespace

Action unit_action(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::CpAsyncBulk:
    case Opcode::CpAsyncBulkTensor:
    case Opcode::CpReduceAsyncBulk:
    case Opcode::CpReduceAsyncBulkTensor: return bulk_copy;
    case Opcode::CpAsyncBulkPrefetch: return bulk_prefetch;
    case Opcode::CpAsyncBulkCommit: return bulk_commit;
    case Opcode::CpAsyncBulkWait: return bulk_wait;
    case Opcode::CpAsync: return async_copy;
    case Opcode::CpAsyncCommit: return async_commit;
    case Opcode::CpAsyncWaitGroup:
    case Opcode::CpAsyncWaitAll: return async_wait;
    case Opcode::CpAsyncMbarrierArrive: return async_arrive;
    case Opcode::WgmmaFence: return wgmma_fence;
    case Opcode::WgmmaMma: return wgmma_product;
    case Opcode::WgmmaCommit: return wgmma_commit;
    case Opcode::WgmmaWait: return wgmma_wait;
    case Opcode::Mma:
    case Opcode::MmaSparse:
    case Opcode::WmmaMma:
    case Opcode::Movmatrix: return warp_product;
    case Opcode::Ldmatrix:
    case Opcode::Stmatrix: return matrix_rows;
    case Opcode::WmmaLoad:
    case Opcode::WmmaStore: return matrix_tile;
    case Opcode::Tcgen05Alloc: return tensor_alloc;
    case Opcode::Tcgen05Dealloc: return tensor_free;
    case Opcode::Tcgen05Relinquish: return tensor_relinquish;
    case Opcode::Tcgen05Ld:
    case Opcode::Tcgen05St: return tensor_move;
    case Opcode::Tcgen05Wait: return tensor_wait;
    case Opcode::Tcgen05Fence: return tensor_fence;
    case Opcode::Tcgen05Mma:
    case Opcode::Tcgen05MmaWs: return tensor_product;
    case Opcode::Tcgen05Cp: return tensor_copy;
    case Opcode::Tcgen05Shift: return tensor_shift;
    case Opcode::Tcgen05Commit: return tensor_commit;
    case Opcode::ClcTryCancel: return try_cancel;
    case Opcode::ClcQueryCancel: return query_cancel;
    case Opcode::WgmmaMmaSparse:
    case Opcode::TensormapReplace:
    case Opcode::TensormapCpFence: return refuse;
    default: return nullptr;
  }
}

void unit_exit(ClusterRun& run, Warp& warp) {
  judge_stores_at_exit(run, warp);
  judge_products_at_exit(run, warp);
}

void unit_end(ClusterRun& run) { judge_tensor_memory_at_end(run); }

}  // namespace heddle::ptx
