// clusterlaunchcontrol: a cluster that is done asks for another cluster's work. The run answers a few of the following CTAs, then none.
#pragma once

#include "ptx/run/cluster.h"

namespace heddle::ptx {

ActionEnd try_cancel(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);
/// is_canceled and get_first_ctaid
ActionEnd query_cancel(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);

}  // namespace heddle::ptx
