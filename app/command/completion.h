// Completion scripts for bash, zsh and fish, generated from the command table. Names of shipped kernels, machines and
// schedules are asked of the program itself, so they are always current.
#pragma once

#include <string>
#include <string_view>

namespace heddle::app {

/// Pre: shell is "bash", "zsh" or "fish".
std::string completion_script(std::string_view shell);

}  // namespace heddle::app
