// How whoever reads a message calls this program: as it was started. Texts say "heddle COMMAND"; where they are shown, it is written so
// that the reader can type it.
#pragma once

#include <string>
#include <string_view>

namespace heddle::app {

/// To be said once, before anything is printed, with the first word of the command line. What HEDDLE_CALLED names comes first (run.sh sets
/// it); programs that this one starts find themselves called by the same name.
void called_as(const char* first_word);

/// "heddle" until called_as says otherwise; else "./run.sh", "build/release/heddle", ..., as a shell reads it.
const std::string& program_called();

/// The text with every "heddle COMMAND" in it as the reader types it.
std::string as_called(std::string_view text);

}  // namespace heddle::app
