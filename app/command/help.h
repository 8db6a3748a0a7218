// Help texts, written from the command table: examples first, then usage, arguments and options.
#pragma once

#include <string>

#include "app/command/command_table.h"

namespace heddle::app {

/// The overview: what the program is for, every command in one line, exit codes.
std::string overview();

std::string help_for(const CommandSpec& command);

/// "heddle solve KERNEL MACHINE [options]"
std::string usage_line(const CommandSpec& command);

}  // namespace heddle::app
