// Where this user's files go, by the XDG base directory specification.
#pragma once

#include <string>

#include "core/base/result.h"

namespace heddle {

enum class UserFolder { Config, State, Cache };

/// $XDG_CONFIG_HOME/heddle/NAME or ~/.config/heddle/NAME; for State and Cache likewise, with ~/.local/state and ~/.cache. Empty without
/// a home. Nothing is made.
std::string user_path(UserFolder folder, const std::string& name);

// Libraries and programs that the environment names.

/// The absolute path that the variable names; empty where it is not set, or empty. Environment error: the path is not absolute: what it
/// names would depend on the folder that happens to be the current one, or on a search path.
Result<std::string> path_named_by(const char* variable);

}  // namespace heddle
