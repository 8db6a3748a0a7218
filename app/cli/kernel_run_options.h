// How a command line wants a whole kernel run by the simulator.
#pragma once

#include "app/command/arguments.h"
#include "core/answers/validation.h"
#include "core/base/result.h"
#include "core/machine/machine.h"
#include "core/simulate/kernel_run.h"

namespace heddle::app {

/// What --arbitration says.
Arbitration arbitration_of(const Arguments& arguments);
/// What --clock, --power, --data and --measured say. Input errors of options that the machine does not know.
Result<ClockChoice> clock_choice(const Arguments& arguments, const Machine& machine);
/// What heddle simulate's options say; nothing of timelines and of stopping. Input errors of options that the machine does not know.
Result<KernelRunOptions> kernel_run_options(const Arguments& arguments, const Machine& machine);

/// How far predictions of this kind of kernel can be trusted, by the shipped validation; nothing is said where that cannot be read.
/// `changed`: numbers of kernel or machine are not those of the files; nothing was validated with others.
Trust trust_in(const std::string& kind, const std::string& arch, bool changed);

}  // namespace heddle::app
