// Copies that run by themselves between global and shared memory, or between shared memories of a cluster (TMA): bulk and by tensor map.
#pragma once

#include "ptx/run/cluster.h"

namespace heddle::ptx {

/// cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk, cp.reduce.async.bulk.tensor
ActionEnd bulk_copy(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// cp.async.bulk.prefetch, of bytes and of tiles: nothing of it can be seen.
ActionEnd bulk_prefetch(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
ActionEnd bulk_commit(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
ActionEnd bulk_wait(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// Stores that nobody waited for, of a warp that exits.
void judge_stores_at_exit(ClusterRun& run, const Warp& warp);

/// Bytes that a copy from global memory brings to [shared, shared + bytes) of a CTA, where the launch says what they are.
void bring_known_bytes(ClusterRun& run, int cta, std::uint32_t shared, std::uint64_t global, std::uint64_t bytes);

}  // namespace heddle::ptx
