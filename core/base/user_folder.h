// Where this user's files go, by the XDG base directory specification.
#pragma once

#include <string>

namespace heddle {

enum class UserFolder { Config, State, Cache };

/// $XDG_CONFIG_HOME/heddle/NAME or ~/.config/heddle/NAME; for State and Cache likewise, with ~/.local/state and ~/.cache. Empty without
/// a home. Nothing is made.
std::string user_path(UserFolder folder, const std::string& name);

}  // namespace heddle
