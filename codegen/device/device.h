// The CUDA files of this folder, as text: CMake puts them into the program. A kernel's text begins with those of their definitions that it
// needs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/embedded_file.h"

namespace heddle::codegen {

/// In the order in which a kernel's text has them: what a file includes comes before it. A head is comment, #pragma once, includes; a body
/// definitions.
std::span<const EmbeddedFile> device_files();

/// The definitions that `body` uses, directly or not.
std::string device_text(std::string_view body);

}  // namespace heddle::codegen
