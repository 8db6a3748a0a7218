// The window's state as a command line: what `heddle` would have to be given to do the same without a window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/session/session.h"

namespace heddle::app {

/// "heddle SUBCOMMAND KERNEL MACHINE --param KEY=VALUE --set NUMBER=VALUE --demand SENTENCE ... EXTRA... SCHEDULE", quoted for a
/// shell. Of the state it says what the subcommand takes: parameters, changed numbers and constraints that are switched on,
/// and the schedule that is shown, where that one has a file and the subcommand wants one. Empty without kernel and machine.
std::string command_line(const Session& session, std::string_view subcommand, const std::vector<std::string>& extra = {});

/// What the chart shows, as text in a terminal. Empty without kernel and machine.
std::string shown_as_command(const Session& session);
/// Writes the same file. A picture of the window is made from the project's file: empty while there are unsaved changes.
std::string export_command(const Session& session, const Export& wish);

/// A word of a command line, quoted where a shell would take it apart.
std::string shell_word(std::string_view word);

}  // namespace heddle::app
