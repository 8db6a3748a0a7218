// heddle compare of a Triton text with no reading named: three schedules side by side instead of a scoreboard of one problem.
#pragma once

#include <string>

#include "app/command/arguments.h"
#include "app/command/terminal.h"

namespace heddle::app {

/// Whether KERNEL is a Triton text, neither a reading nor schedules are named.
bool wants_three(const Arguments& arguments);
int compare_three(const Arguments& arguments, const Terminal& terminal);

/// What --format, the ending of --out, or --json say.
std::string compare_format(const Arguments& arguments, const std::string& path);

}  // namespace heddle::app
