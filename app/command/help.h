// Help texts, written from the command table: examples first, then usage, arguments and options.
#pragma once

#include <string>

#include "app/command/arguments.h"
#include "app/command/terminal.h"

namespace heddle::app {

/// The overview: what the program is for, every command in one line, exit codes.
std::string overview();

std::string help_for(const CommandSpec& command);

/// "heddle solve KERNEL MACHINE [options]"
std::string usage_line(const CommandSpec& command);

/// What is wrong with a command line, how it should look, and where more is said. Returns kUsage.
int report_usage(const Terminal& terminal, const UsageError& error, bool json);

}  // namespace heddle::app
