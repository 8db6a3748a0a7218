// Which loads of a loop Triton lets run ahead, by how many stages, and why it leaves the others alone: what its pass
// tritongpu-assign-latencies decides, worked out from the text before it. It never says itself why it does nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/triton/read/program.h"

namespace heddle::triton {

/// Why a load stands in the stage of its use.
enum class LeftAlone {
  No,             ///< it runs ahead
  OneStage,       ///< num_stages is 1
  HoldsLoop,      ///< the loop holds another one
  TwoIterations,  ///< the loop hands on an argument that it was itself handed
  Barrier,        ///< the loop holds a barrier
  Branch,         ///< the load stands in an scf.if
  NoProduct,      ///< no mma in the loop, and no num_stages of the loop's own
  NotForProduct,  ///< no mma reads what rests on it, and no num_stages of the loop's own
  NotReached,     ///< no op of its iteration that Triton begins at reads it
  Narrow,         ///< a thread knows of fewer bytes in a row than an asynchronous copy moves
  OtherOrder,     ///< shared memory is to hold it along the other dimension: its bytes are scattered one by one
  TwoLayouts,     ///< its readers want it in different layouts of shared memory
  TwoLevels,      ///< mmas read it both at once and as an index
  MoreStages,     ///< other loads wait for it, and there is no stage left
  ForLeftAlone,   ///< only a load that is left alone itself waits for it
};

struct LoadLatency {
  mlir::OpId op;
  LeftAlone why = LeftAlone::No;
  std::int64_t latency = 0;  ///< stages to the first use; 0: left alone
  std::int64_t level = 0;    ///< loads between it and what it is for: of an index 1
  std::int64_t bytes = 0;    ///< Narrow, OtherOrder: that are copied at once
};

/// Of every load in the loop, in the order of the text, also of those in its branches. `asked`: as if the loop said num_stages itself.
/// Latencies that the text has already are taken as they are.
std::vector<LoadLatency> load_latencies(const TritonProgram& program, const LoopSite& loop, std::int64_t num_stages, bool asked);

/// What the loop or the text's metadata says, else as many as its stages show, else Triton's default.
std::int64_t stages_meant(const TritonProgram& program, const LoopSite& loop);

/// Whether Triton schedules nothing in the loop: it runs as it stands, in one stage. False where only its scheduler knows (mmas of tensor
/// memory), and for loops that will be warp specialized.
bool left_alone(const TritonProgram& program, const LoopSite& loop);

}  // namespace heddle::triton
