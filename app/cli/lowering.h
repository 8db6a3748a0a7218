// From the command line to a program, for the commands that write, compile and run kernels.
#pragma once

#include <optional>
#include <vector>

#include "app/cli/inputs.h"
#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "codegen/compile/recut.h"
#include "codegen/run/measure.h"
#include "core/base/json.h"

namespace heddle::app {

struct Lowered {
  Inputs inputs;  ///< with the demands that were added on the way
  Schedule schedule;
  codegen::Program program;
};

/// Schedule and program of the command line. Where the schedule is the solver's, or with --again, what cannot be written becomes a
/// demand and the solver is asked again; `demands` hold from the start. Empty: the exit code is in `code` and the reason has been
/// printed, with --json as an object too. `most_seconds`: what each search may take, where that is less than the command's time.
std::optional<Lowered> lower(const Arguments& arguments, const Terminal& terminal, int& code,
                             const std::vector<UserConstraint>& demands = {}, std::optional<double> most_seconds = {});

/// The kernel's text; without one the exit code is in `code` and the reasons have been printed.
std::optional<codegen::Emission> write_cuda(const Lowered& lowered, const Arguments& arguments, const Terminal& terminal, int& code);

struct CompiledKernel {
  Inputs inputs;      ///< with the demands that were added on the way
  Schedule schedule;  ///< the last that could be written
  codegen::BuiltKernel kernel;
};

/// Schedule, program, text and cubin in one. What ptxas objects to is tried with the loops cut elsewhere, unless --cut says where.
/// Where the schedule is the solver's, or with --again, what cannot be written and what ptxas still objects to become demands, and
/// the solver is asked again, for half the time that the first kernel took. Empty: the exit code is in `code` and the reason has been
/// printed.
std::optional<CompiledKernel> lower_and_compile(const Arguments& arguments, const Terminal& terminal,
                                                const codegen::CompileOptions& options, int& code);

/// What heddle run and profile want of it.
codegen::MeasureRequest measure_request(const Arguments& arguments, bool profile, const CompiledKernel& made,
                                        const codegen::CompileOptions& compile);

/// What heddle simulate says of the kernel as it is run; nothing where it has no numbers.
std::optional<PredictedRun> prediction_of_run(const Arguments& arguments, const CompiledKernel& made);

/// A line for each, and one for the demand that avoids it or why none does.
void complain_of(const std::vector<codegen::Refusal>& refusals, const Terminal& terminal);

/// --cluster, --no-turns, --least-rings and --cut.
codegen::BuildOptions build_options(const Arguments& arguments);
/// --compiler.
codegen::Compiler compiler_of(const Arguments& arguments);
/// --arch, else the program's own.
std::string arch_of(const codegen::Program& program, const Arguments& arguments);

/// [{rule, ops, sentence, demand, no_demand}]
Json refusals_json(const std::vector<codegen::Refusal>& refusals);

}  // namespace heddle::app
