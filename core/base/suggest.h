// "Did you mean ...?" for misspelt names: keys, kinds, roles, files, commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, ignoring ASCII case.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The closest candidate, the first of equals; empty when none is close enough to be what was meant (a third of the
/// word's length, at least 1).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean 'latency'?"; several when the word is the beginning of several; or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b or c": the whole list for messages; the first `limit` and "..." when there are more.
std::string list_of(const std::vector<std::string>& items, std::size_t limit = 24);

/// The names of named things, in order.
template <class T>
std::vector<std::string> names_of(const std::vector<T>& items) {
  std::vector<std::string> names;
  for (const T& item : items) names.push_back(item.name);
  return names;
}

}  // namespace heddle
