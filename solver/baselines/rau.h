// Iterative modulo scheduling as a function of its own, because partitioners start from it.
#pragma once

#include "solver/baselines/modulo_table.h"

namespace heddle::solver {

struct RauOptions {
  std::int64_t budget = 20;   ///< placements per op before the next II is tried
  bool short_window = false;  ///< give up above min(2 MinII, MinII + max(10, MinII / 8))
};

/// Nothing when no II works, or none in the window. `group`: for the sizes of buffers, see ii_for_memory.
std::optional<ModuloSchedule> rau_schedule(const Problem& problem, const RauOptions& options, const std::vector<int>& group,
                                           const std::stop_token& stop, std::vector<std::string>& log);

}  // namespace heddle::solver
