// heddle check of a Triton text without a SCHEDULE: by the rules of Triton's later passes, which verify none of them, and by the model.
#pragma once

#include "app/cli/inputs.h"
#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// Whether the command line asks for that.
bool checks_text(const Arguments& arguments);

/// The exit code: 0 in order, 4 not.
int check_text(const Arguments& arguments, const Terminal& terminal);

/// Whether this valid schedule of a Triton text can be given back, as a line; empty where the question does not arise.
std::string give_back_line(const CommandInputs& inputs, const Schedule& schedule);

}  // namespace heddle::app
