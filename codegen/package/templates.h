// The texts of this folder's texts/, which CMake puts into the program, with their blanks filled in: @NAME@ stands for a value.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/embedded_file.h"

namespace heddle::codegen {

std::span<const EmbeddedFile> package_templates();

using Blanks = std::vector<std::pair<std::string_view, std::string>>;

/// Pre: there is such a text, and every blank of it is in `blanks`. What is filled in is not read again.
std::string filled(std::string_view file, const Blanks& blanks);

}  // namespace heddle::codegen
