// Names for files that the window begins: of when and of what.
#pragma once

#include <string>
#include <string_view>

namespace heddle::app {

/// Letters, digits and underscores, at most 60 of them, so that no name leaves its folder.
std::string safe_file_name(std::string_view name);
/// "20261121T171000Z": now.
std::string time_stamp();

}  // namespace heddle::app
