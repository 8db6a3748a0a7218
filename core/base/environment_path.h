// Libraries and programs that the environment names.
#pragma once

#include <string>

#include "core/base/result.h"

namespace heddle {

/// The absolute path that the variable names; empty where it is not set, or empty. Environment error: the path is not absolute: what it names
/// would depend on the folder that happens to be the current one, or on a search path.
Result<std::string> path_named_by(const char* variable);

}  // namespace heddle
