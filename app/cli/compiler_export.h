// heddle export into what compilers take: formats of a scheduler whose dump the kernel is of; for Triton its own text with another schedule
// in it, or the loop in Python.
#pragma once

#include <string>

#include "app/cli/inputs.h"
#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "core/base/result.h"
#include "core/schedule/outcome.h"

namespace heddle::app {

/// "schedule_graph", "variants", "joint-solver"
bool is_dump_format(const std::string& format);

/// The file's text. `schedule` is the one to export; variants take those of --also with it, or, where only the
/// stored one is there, alternatives of equal II.
Result<std::string> dump_export(const std::string& format, const CommandInputs& inputs, const Schedule& schedule,
                                const Arguments& arguments, const Terminal& terminal);

/// The file's text where a search found no schedule: only the answer to a joint-solver problem has a place for that.
Result<std::string> dump_failure(const std::string& format, const SolveOutcome& outcome, const Arguments& arguments);

/// "ttgir", "python"
bool is_triton_format(const std::string& format);

/// The exit code. A schedule that Triton must not be given is refused by the rules that it breaks, and nothing is written.
int export_for_triton(const std::string& format, const Arguments& arguments, const Terminal& terminal);

}  // namespace heddle::app
