// The three schedules of a Triton kernel (core/triton/audit/comparison.h), solved.
#pragma once

#include <functional>
#include <stop_token>

#include "core/base/result.h"
#include "core/machine/machine.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/kernel/lowered.h"

namespace heddle::solver {

struct TritonRequest {
  triton::LoweredLoop loop;
  const Machine& machine;
  double timeout_seconds = 60;  ///< of all three together
  std::uint64_t seed = 1;
  bool options = true;  ///< the table of num_stages and num_warps too
};

/// Called whenever a side has changed: first Triton's own, then the best of each reading.
using TritonListener = std::function<void(const triton::Comparison&)>;

/// Faults: what the triton reading refuses. A side that has no schedule says why.
Result<triton::Comparison> compare_triton(const TritonRequest& request, std::stop_token stop = {}, const TritonListener& listener = {});

}  // namespace heddle::solver
