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
/// What it says of a schedule; where it says nothing what every prediction has (core/simulate/forecast.h).
Arbitration arbitration_for(const Arguments& arguments, const Problem& problem, const Schedule& schedule);
/// What --clock, --power, --data and --measured say. Input errors of options that the machine does not know.
Result<ClockChoice> clock_choice(const Arguments& arguments, const Machine& machine);
/// What heddle simulate's options say; nothing of timelines, of stopping and of what depends on a schedule: arbitration_for(). Input errors
/// of options that the machine does not know.
Result<KernelRunOptions> kernel_run_options(const Arguments& arguments, const Machine& machine);

}  // namespace heddle::app
