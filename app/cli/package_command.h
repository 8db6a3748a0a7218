// heddle emit --format package and torch: a kernel as a folder that a program builds and calls.
#pragma once

#include <optional>

#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "codegen/package/folder.h"

namespace heddle::app {

/// --format; none: the text.
std::optional<codegen::PackageFormat> package_format(const Arguments& arguments);

/// The exit code.
int emit_package(codegen::PackageFormat format, const Arguments& arguments, const Terminal& terminal);

}  // namespace heddle::app
