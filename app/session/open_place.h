// A line of a source program in the person's own editor.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace heddle::app {

/// The words that show a line in that editor: "code", "-g", "FILE:LINE". Editors that need a terminal, and unknown ones, have none: then
/// the desktop opens the file with what it opens such files with. `editor`: as $VISUAL says it; may be empty.
std::vector<std::string> editor_words(const std::string& editor, const std::string& file, int line);

/// Starts it and leaves it alone. A fault where there is nothing to start, or where it fails at once.
Result<Ok> open_place(const std::string& file, int line);

}  // namespace heddle::app
