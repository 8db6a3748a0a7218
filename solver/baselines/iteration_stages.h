// How Triton's pipeliner assigns stages: latencies are iterations, not cycles (AssignLatencies.cpp and
// ScheduleLoops.cpp of triton-lang/triton). distance(op) = latency(op) + the largest distance of its users, stage =
// largest distance - distance; in the loop body later stages come first.
#pragma once

#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/timing/program.h"

namespace heddle::solver {

using timing::StreamStep;

struct IterationStages {
  std::vector<int> stage;      ///< per op
  std::vector<bool> buffered;  ///< per channel: an accumulator in tensor memory that gets two slots
  int stages = 1;
};

/// Loads get (num_stages - 1) / (indirection + 1) iterations; an mma whose accumulator in tensor memory fits twice
/// gets `mma_latency`. Carried dependences are repaired by delaying their readers.
IterationStages iteration_stages(const Problem& problem, int num_stages, int mma_latency, std::vector<std::string>& log);

/// The ops in `order`, later stages first.
std::vector<StreamStep> later_stages_first(const std::vector<OpId>& order, const IterationStages& stages);

}  // namespace heddle::solver
