// Registers per group and thread, as core/problem/problem.h defines their use. Read by the checker and by the usage lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct RegisterUse {
  bool touched = false;   ///< some op of the group defines or reads a register value
  std::int64_t peak = 0;  ///< the greatest use at an op start; producer_registers where untouched
  OpId at;                ///< an op at whose start the peak occurs; invalid where untouched
};

/// Pre: one placement per op, groups that exist. In group order.
std::vector<RegisterUse> register_use(const Problem& problem, const Schedule& schedule);

/// The cycle at which a register value is dead in its producer's group; later than the producer's start.
std::vector<Cycle> register_deaths(const Problem& problem, const Schedule& schedule);

/// Registers of the register inputs of each op that come from other groups; the same tile read twice counts once.
std::vector<std::int64_t> foreign_registers(const Problem& problem, const Schedule& schedule);

/// The smallest legal budget for a use: a multiple of the granule.
std::int64_t register_budget(const Limits& limits, std::int64_t use);
/// Gives every group of the schedule the smallest legal one. Pre: as of register_use().
void set_least_budgets(const Problem& problem, Schedule& schedule);

}  // namespace heddle
