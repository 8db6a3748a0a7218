// heddle export into the formats of a compiler's scheduler.
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

}  // namespace heddle::app
