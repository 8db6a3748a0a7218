// What L2 supplies: SMs that all load, store and reduce at once get less than each of them could take alone.
#pragma once

#include <cstdint>

#include "core/instance/instance.h"

namespace heddle {

struct SuppliedProblem {
  Problem problem;            ///< bulk copies of the loop last as long as L2 needs for them
  std::int64_t l2_bytes = 0;  ///< that L2 moves for an SM in one iteration; a multicast counts in part for each receiver, a reduction twice
};

/// `cluster` CTAs, neighbours along the grid dimension where that saves most, load together what is the same for them. `sms` are at
/// work. Nothing changes on a machine whose file does not say what L2 supplies.
SuppliedProblem supplied_by_l2(const Instance& instance, int cluster, std::int64_t sms);

}  // namespace heddle
