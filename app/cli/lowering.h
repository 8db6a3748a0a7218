// From the command line to a kernel, for the commands that write, compile and run one.
#pragma once

#include <optional>
#include <vector>

#include "app/ask/kernel.h"
#include "app/cli/inputs.h"
#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "codegen/run/measure.h"
#include "core/base/json.h"

namespace heddle::app {

/// A kernel of the command line's schedule, or of the solver's where it names none or says --again: then what stands in the way becomes a
/// demand, and the solver is asked again (app/ask/kernel.h). Loops are cut elsewhere for ptxas unless --cut says where. Empty: the exit
/// code is in `code` and the reason has been printed, with --json as an object too.
std::optional<MadeKernel> make_kernel(const Arguments& arguments, const Terminal& terminal, KernelGoal goal,
                                      const codegen::CompileOptions& options, int& code);

/// What heddle run and profile want of it.
codegen::MeasureRequest measure_request(const Arguments& arguments, bool profile, const MadeKernel& made,
                                        const codegen::CompileOptions& compile);

/// What heddle simulate says of the kernel as it is run; nothing where it has no numbers.
std::optional<PredictedRun> prediction_of_run(const Arguments& arguments, const MadeKernel& made);

/// A line for each, and one for the demand that avoids it or why none does.
void complain_of(const std::vector<codegen::Refusal>& refusals, const Terminal& terminal);

/// --cluster, --no-turns, --least-rings, --sizes and --cut.
codegen::BuildOptions build_options(const Arguments& arguments);
/// --compiler.
codegen::Compiler compiler_of(const Arguments& arguments);
/// --arch, else that which the kernel is written for.
std::string arch_of(const std::string& written_for, const Arguments& arguments);

/// [{rule, ops, sentence, demand, no_demand}]
Json refusals_json(const std::vector<codegen::Refusal>& refusals);

}  // namespace heddle::app
