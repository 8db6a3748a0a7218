// What a kernel's predicted time is made of: why it is 650 TFLOP/s and not the 989 of the datasheet.
#pragma once

#include <string>
#include <vector>

#include "core/simulate/kernel_run.h"

namespace heddle {

struct TimePart {
  std::string name;         ///< "tensor", "clock", "arithmetic" ...
  double microseconds = 0;  ///< at least 0
  std::string about;        ///< a sentence
};

/// Parts whose sum is the run's time, each what one mechanism adds: the kernel is run again without L2's limit, then also with
/// arithmetic at its units' rates, then also with free turns; each difference is a part. Two mechanisms that hide each other are so counted
/// in this order. What is left is the work of the tensor cores (of the busiest unit, where a kernel uses none), SMs without a tile, filling
/// and draining, and waits. All are at the clock of the datasheet; what the clock under load adds is a part of its own. Parts of nothing
/// are left out. Empty where the run has a fault or was stopped.
/// Pre: `run` is run_kernel() of the rest.
std::vector<TimePart> time_parts(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options, const KernelRun& run);

}  // namespace heddle
