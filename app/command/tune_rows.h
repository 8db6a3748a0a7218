// The row of the command table about tuning.
#pragma once

#include "app/command/command_table.h"

namespace heddle::app {

/// What all commands spell alike is handed in.
CommandSpec tune_row(PositionalSpec kernel, PositionalSpec machine, OptionSpec param, OptionSpec set, OptionSpec json);

}  // namespace heddle::app
