// Measured latencies as changes of a problem's numbers, to solve again with.
#pragma once

#include <string>
#include <vector>

#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/records/measurement.h"

namespace heddle {

struct Adopted {
  Changes changes;                      ///< of latencies that differ by a cycle or more, and of windows that they cut short
  std::vector<std::string> bound_only;  ///< ops whose end nobody saw: only a bound of their latency is known
  std::vector<std::string> unknown;     ///< ops of the profile that the problem does not have
};

/// Measured latencies include waiting for units that other groups use at the same time.
Adopted adopt(const Problem& problem, const KernelProfile& profile);

}  // namespace heddle
