// How many CTAs of a schedule fit on one SM.
#pragma once

#include <cstdint>
#include <string>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// Resident warps and CTAs of one SM (published: CUDA programming guide, compute capabilities 9.0 and 10.0). The other limits are
/// the machine's.
inline constexpr std::int64_t kWarpsPerSm = 64, kCtasPerSm = 32;

struct Occupancy {
  int ctas = 1;            ///< at least 1: what does not fit at all is the checker's to say
  std::string limited_by;  ///< "shared memory", "registers", "warps", "tensor memory", "the number of CTAs"
  std::int64_t smem_bytes = 0, registers = 0, warps = 0, tmem_columns = 0;  ///< of one CTA
};

/// Rings and residents count; what prologue and epilogue need on top does not. Pre: as for compute_usage().
Occupancy occupancy_of(const Problem& problem, const Schedule& schedule);

}  // namespace heddle
