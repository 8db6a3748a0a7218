// The CUDA files of this folder, as text: CMake puts them into the program (scripts/embed.cmake). A kernel's text begins with those of
// their definitions that it needs.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace heddle::codegen {

struct DeviceFile {
  std::string_view name, text;  ///< "tma.cuh"
  /// Without the head, which ends with the first empty line: a comment, #pragma once, includes.
  std::string_view definitions() const { return text.substr(text.find("\n\n") + 2); }
};

/// In the order in which a kernel's text has them: what a file includes comes before it.
std::span<const DeviceFile> device_files();

/// The definitions that `body` uses, directly or not.
std::string device_text(std::string_view body);

}  // namespace heddle::codegen
