// A file whose text is part of the program, so that the program finds it wherever it lies: CMake puts it there (heddle_embed).
#pragma once

#include <string_view>

namespace heddle {

struct EmbeddedFile {
  std::string_view name, text;  ///< "chart.css"
  /// Without the head, which ends with the first empty line: what people are told, and what only a compiler of the file itself needs.
  constexpr std::string_view body() const { return text.substr(text.find("\n\n") + 2); }
};

}  // namespace heddle
