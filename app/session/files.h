// Files as the session sees them: told apart by their "schema" key.
#pragma once

#include <string>

#include "core/base/result.h"

namespace heddle::app {

enum class FileKind { Kernel, Machine, Schedule, Constraints, Unknown };

/// By the "schema" key, whatever the major version (the reader of that kind judges it). Unknown: JSON, but not one of
/// ours.
Result<FileKind> classify_file(const std::string& path);

/// The last part of a path.
std::string base_name(const std::string& path);

}  // namespace heddle::app
