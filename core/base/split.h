// A text cut at a separator.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// "a,,b" -> "a", "", "b"; one empty part of an empty text.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The same at commas outside of brackets, which are parts of the text: "f(a,b),c" -> "f(a,b)", "c".
inline std::vector<std::string_view> split_outside(std::string_view text, std::string_view opening = "<[{(",
                                                   std::string_view closing = ">]})") {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (opening.find(text[i]) != std::string_view::npos) ++depth;
    if (closing.find(text[i]) != std::string_view::npos) --depth;
    if (text[i] == ',' && depth == 0) parts.push_back(text.substr(begin, i - begin)), begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace heddle
