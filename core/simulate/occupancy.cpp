#include "core/simulate/occupancy.h"

#include <algorithm>

#include "core/analysis/channels.h"
#include "core/analysis/usage.h"

namespace heddle {

Occupancy occupancy_of(const Problem& problem, const Schedule& schedule) {
  const Usage usage = compute_usage(problem, schedule);
  const Limits& limits = problem.limits;
  Occupancy result;
  result.smem_bytes = usage.smem_bytes;
  result.tmem_columns = rounded_columns(usage.tmem_columns);
  result.warps = usage.warps;
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    const ScheduleGroup& group = schedule.groups[g];
    result.registers += (group.registers > 0 ? group.registers : usage.register_budget[g]) * group.warps * limits.threads_per_warp;
  }
  std::int64_t least = kCtasPerSm;
  result.limited_by = "the number of CTAs";
  const auto limit = [&](std::int64_t whole, std::int64_t part, const char* what) {
    if (part <= 0 || whole / part >= least) return;
    least = whole / part;
    result.limited_by = what;
  };
  limit(limits.smem_bytes, result.smem_bytes, "shared memory");
  limit(limits.registers_per_sm, result.registers, "registers");
  limit(kWarpsPerSm, result.warps, "warps");
  limit(limits.tmem_columns, result.tmem_columns, "tensor memory");
  result.ctas = static_cast<int>(std::max<std::int64_t>(1, least));
  return result;
}

}  // namespace heddle
