// Text inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

/// Safe between tags and inside quoted attributes; control characters, which XML 1.0 does not have, become spaces.
std::string xml_text(std::string_view text);

}  // namespace heddle
