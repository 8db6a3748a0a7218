// Which ops two schedules put into the same warp groups, and which not.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/difference.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// A group of A with the group of B that it corresponds to, or one that only one of them has.
struct PartitionRow {
  std::string group;  ///< "wg0", "wg0 / consumer A" where the two call it differently
  std::vector<OpId> both, only_a, only_b;
};

/// Groups of A in their order, then those that only B has; none without ops.
std::vector<PartitionRow> partition_rows(const Problem& problem, const Schedule& a, const Schedule& b, const Difference& difference);

/// "load_0, mma_4"; "-" for none.
std::string op_names(const Problem& problem, const std::vector<OpId>& ops);

}  // namespace heddle
