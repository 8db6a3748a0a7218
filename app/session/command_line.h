// The window's state as a command line: what `heddle` would have to be given to do the same without a window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/session/session.h"

namespace heddle::app {

/// "heddle SUBCOMMAND KERNEL MACHINE --param KEY=VALUE ... EXTRA...", quoted for a shell. Empty without kernel and machine.
std::string command_line(const Session& session, std::string_view subcommand, const std::vector<std::string>& extra = {});

}  // namespace heddle::app
