// What the default answer is chosen with: predictions of whole kernels, hand schedules that ship with the kernel, and numbers that are off.
#pragma once

#include <memory>

#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "solver/questions/fastest.h"

namespace heddle::app {

/// Costs nothing: hand schedules are read and numbers sampled when the first order is compared, once, on the thread that does it.
/// Pre: `problem` was resolved from kernel, machine and changes. The kernel is not a loop of a Triton text: its passes have rules of their
/// own.
std::shared_ptr<solver::TimeChoice> time_choice(std::shared_ptr<const Kernel> kernel, std::shared_ptr<const Machine> machine,
                                                const Changes& changes, std::shared_ptr<const Problem> problem);

}  // namespace heddle::app
