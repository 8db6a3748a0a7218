// How the stand-ins speak to the user of the program that they are in.
#pragma once

#include <string>

namespace heddle::ptx::capture {

/// One line on stderr, the same one only once; not where HEDDLE_CAPTURE_QUIET is set.
void say(const std::string& sentence);

}  // namespace heddle::ptx::capture
