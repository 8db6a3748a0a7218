// cp.async: copies of 4 to 16 bytes a lane from global to shared memory, awaited in groups or by an mbarrier.
#pragma once

#include "ptx/run/cluster.h"

namespace heddle::ptx {

ActionEnd async_copy(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
ActionEnd async_commit(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// wait_group and wait_all
ActionEnd async_wait(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// cp.async.mbarrier.arrive{.noinc}: the lanes arrive when what they have copied so far is there.
ActionEnd async_arrive(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);

}  // namespace heddle::ptx
