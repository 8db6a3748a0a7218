// How much one iteration of a kernel's loop gets done, so that kernels with different tiles can be compared: cycles per unit
// of work, not cycles per iteration.
#pragma once

#include <cstdint>

#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"

namespace heddle {

enum class WorkKind {
  MultiplyAdds,  ///< of the body's mma ops
  Bytes,         ///< loaded from and stored to global memory; for bodies without an mma
  Iterations,    ///< neither is known (graphs of plain numbers)
};
const char* to_string(WorkKind kind);  ///< "multiply_adds", "bytes", "iterations"

struct Work {
  WorkKind kind = WorkKind::Iterations;
  std::int64_t amount = 1;  ///< per iteration, at least 1
  std::int64_t bytes = 0;   ///< to and from global memory per iteration
  /// Cycles that the tensor cores need for it at their best: the machine's own mma rule on 256 x 256 x 256 with elements of
  /// the same widths, whichever space of A is fastest. 0 where there is no mma, or no rule for it.
  Cycle at_peak = 0;
};

/// Pre: resolve(kernel, machine, params) succeeds.
Work work_per_iteration(const Kernel& kernel, const Machine& machine, const Scope& params = {});

/// An exact comparison of a/b with c/d (b, d > 0): negative, zero or positive.
int compare_ratios(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d);

}  // namespace heddle
