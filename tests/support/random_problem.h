// Random scheduling problems from a seed: small ones that exhaustive search can decide, and large layered ones for stress.
// The same seed gives the same problem on every machine.
#pragma once

#include <cstdint>

#include "core/problem/problem.h"

namespace heddle::test {

struct RandomProblemOptions {
  int min_ops = 2, max_ops = 5;
  int max_cost = 5;       ///< greatest latency, duration and window in cycles
  int max_groups = 3;     ///< at most; each problem draws its own
  bool registers = true;  ///< values in registers, with tight limits now and then
  bool channels = true;   ///< values in shared and tensor memory
  bool producers = true;  ///< some problems have variable-latency ops
};

Problem random_problem(std::uint64_t seed, const RandomProblemOptions& options = {});

/// A layered graph of `ops` ops with native-size costs (hundreds of cycles), a few units, loads, recurrences, and limits
/// loose enough that some schedule exists.
Problem random_layered_problem(std::uint64_t seed, int ops);

/// The hard class: native-size costs on three compute units of similar load, about 1.2 edges per op, several recurrence
/// circuits of 0.6 to 1.1 times ResMII that compete for the units, four warp groups, roomy memory. The least II is often
/// strictly above both ResMII and RecMII, and proving that is what costs.
Problem random_mixed_problem(std::uint64_t seed, int ops);

}  // namespace heddle::test
