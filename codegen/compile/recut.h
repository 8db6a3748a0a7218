// The same schedule with the loops of its roles cut elsewhere, for when ptxas spoils the kernel of the first choice. What ptxas
// makes of registers is not foreseen to the last one, so this is found out by compiling.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "codegen/compile/compile.h"
#include "codegen/emit/emit.h"
#include "codegen/machine_code/audit.h"
#include "codegen/program/build.h"

namespace heddle::codegen {

/// A kernel as far as it goes without a GPU.
struct BuiltKernel {
  BuildOptions build;  ///< that made the program
  Program program;
  Emission emission;
  Compiled compiled;
  std::vector<Refusal> faults;  ///< what ptxas has against it; empty: clean
  MachineAudit audit;
  std::vector<Refusal> findings;  ///< of the audit, above its thresholds; none of a recording build, whose text is not the kernel's
};

/// Pre: `problem` is `kernel` resolved, `schedule` is of that problem.
struct CompileQuestion {
  const Kernel& kernel;
  const Problem& problem;
  const Schedule& schedule;
  std::optional<std::int64_t> trips = {};
  Recording records = Recording::None;
};

/// `arch`: that the text is written for.
using CompileFunction = std::function<Result<Compiled>(const std::string& source, const std::string& arch)>;

/// The text compiled, what ptxas has against it and what it made of it. Errors are those of `compile`.
Result<BuiltKernel> compile_kernel(const CompileQuestion& question, BuildOptions build, Program program, Emission emission,
                                   const CompileFunction& compile);

/// `first` where it is clean; else the best of the kernels with other cuts, which may still be `first`. Roles change one after the
/// other, so that the work grows with their number. Errors are those of `compile`; a stop ends it with what was best so far.
Result<BuiltKernel> recut(const CompileQuestion& question, BuiltKernel first, const CompileFunction& compile,
                          const std::stop_token& stop = {});

}  // namespace heddle::codegen
