// Closed vocabularies in files: the words of an enumeration that has a to_string, and the way back.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// The words of the values from the first one (0) to `last`.
template <class E>
std::vector<std::string> words_up_to(E last) {
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(last); ++i) words.emplace_back(to_string(static_cast<E>(i)));
  return words;
}

template <class E>
std::optional<E> parse_word(std::string_view word, E last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (word == to_string(static_cast<E>(i))) return static_cast<E>(i);
  return std::nullopt;
}

inline bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace heddle
