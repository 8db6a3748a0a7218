// How a command line wants a whole kernel run by the simulator.
#pragma once

#include "app/command/arguments.h"
#include "core/answers/validation.h"
#include "core/base/result.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/kernel_run.h"

namespace heddle::app {

/// What --arbitration says; interleaved where it says nothing.
Arbitration arbitration_of(const Arguments& arguments);
/// What --clock, --power, --data and --measured say. Input errors of options that the machine does not know.
Result<ClockChoice> clock_choice(const Arguments& arguments, const Machine& machine);
/// What heddle simulate's options say; nothing of timelines and of stopping. Input errors of options that the machine does not know.
Result<KernelRunOptions> kernel_run_options(const Arguments& arguments, const Machine& machine);

}  // namespace heddle::app
