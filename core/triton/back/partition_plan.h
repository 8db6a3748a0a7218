// `ttg.partition` of every op of a loop, from the warp groups that a schedule puts its tile ops in: helpers and views go where they are
// read, numbers are those that Triton 3.9 would give itself (its regions: 0 is the default one; then stores, mmas, loads), and the loop
// says so as Triton's partition-scheduling would have.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

struct PartitionPlan {
  /// Of every op of the loop in the order of the text, also inside reductions, and of its terminator.
  std::vector<std::pair<mlir::OpId, std::vector<std::int64_t>>> ops;
  std::vector<std::pair<std::string, std::string>> of_the_loop;  ///< name, value as printed; a unit attribute has none
};

/// `groups`: the warp group of each op that does work, by any numbers; what is not among them goes with its neighbours. Groups that are the
/// text's own partitions give the text's own lists. Faults: where Triton cannot be told. What Triton's lowering cannot carry out is found
/// by broken_rules in the text that says so (rules.h).
Result<PartitionPlan> plan_partitions(const TritonProgram& program, const LoopSite& loop,
                                      const std::vector<std::pair<mlir::OpId, int>>& groups);

}  // namespace heddle::triton
