// Changing values inside JSON text without touching anything else: where each value of a document stands, and a list of
// replacements.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::dump {

/// A value of a JSON text with the values inside it.
struct TextSpan {
  std::size_t begin = 0, end = 0;
  std::vector<TextSpan> members, items;
  std::string_view key;  ///< of a member, as written

  const TextSpan* find(std::string_view key) const;
  std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
};

/// Pre: parse_json accepts the text. The keys point into it.
TextSpan index_text(std::string_view text);

class TextPatch {
 public:
  explicit TextPatch(std::string_view text) : text_(text) {}

  /// Nothing happens where the text says so already.
  void replace(const TextSpan* at, std::string with);
  /// ... and forgets what was replaced inside it.
  void replace_all(const TextSpan* at, std::string with);
  void insert(std::size_t at, std::string what);
  bool empty() const { return changes_.empty(); }
  std::string apply() const;
  /// Only of this part.
  std::string apply(const TextSpan& part) const;

 private:
  struct Change {
    std::size_t begin, end;
    std::string with;
  };
  std::string apply(std::size_t begin, std::size_t end) const;

  std::string_view text_;
  std::vector<Change> changes_;
};

}  // namespace heddle::dump
