#include "app/window/kit/pretty_text.h"

#include "core/base/scanner.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostDigits = 18;  // digits; more than that is no number of cycles or bytes

/// What makes digits beside it a part of a name.
bool of_name(char c) { return in_name(c) || c == '.' || c == '/' || c == '#'; }

}  // namespace

std::string pretty(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    // "QK0 -962-> max0": the arrow of a graph drawn in letters.
    if (text[i] == '-' && i + 1 < text.size() && is_digit(text[i + 1])) {
      std::size_t end = i + 1;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (text.substr(end, 2) == "->") {
        out += "→ (" + pretty(text.substr(i + 1, end - i - 1)) + ")";
        i = end + 2;
        continue;
      }
    }
    if (text.substr(i, 2) == "->") {
      out += "→";
      i += 2;
      continue;
    }
    if (!is_digit(text[i]) || (i > 0 && of_name(text[i - 1]))) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    // A point ends a sentence unless more of the name or number follows.
    const bool name = end < text.size() && of_name(text[end]) && (text[end] != '.' || (end + 1 < text.size() && of_name(text[end + 1])));
    const std::size_t length = end - i;
    for (std::size_t k = i; k < end; ++k) {
      if (!name && length > 3 && length <= kMostDigits && k > i && (end - k) % 3 == 0) out += ' ';
      out += text[k];
    }
    i = end;
  }
  return out;
}

}  // namespace heddle::app
