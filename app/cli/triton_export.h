// heddle export into what Triton's compiler takes: its own text with another schedule in it, or the loop in Python.
#pragma once

#include <string>

#include "app/command/arguments.h"
#include "app/command/terminal.h"

namespace heddle::app {

/// "ttgir", "python"
bool is_triton_format(const std::string& format);

/// The exit code. A schedule that Triton must not be given is refused by the rules that it breaks, and nothing is written.
int export_for_triton(const std::string& format, const Arguments& arguments, const Terminal& terminal);

}  // namespace heddle::app
