// Texts compared whatever the case of their letters. ASCII only: every other byte stays as it is.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace heddle {

constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_case(c);
  return out;
}

inline bool same_letter(char a, char b) { return lower_case(a) == lower_case(b); }

/// An empty `wanted` is found everywhere.
inline bool contains_letters(std::string_view text, std::string_view wanted) {
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same_letter) != text.end();
}

}  // namespace heddle
