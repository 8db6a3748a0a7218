// A text that is read by hand from left to right: the place in it, and what every reader asks for there, which is blanks, marks, names,
// numbers and strings. Nothing is copied but what unquoted() gives; what is wrong each reader says in its own words, with the place as an
// offset.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace heddle {

// ASCII, whatever the locale; every byte may be asked for.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool in_name(char c) { return begins_name(c) || is_digit(c); }
/// What expressions accept as a name: a letter or underscore, then letters, digits, underscores.
constexpr bool is_name(std::string_view text) {
  return !text.empty() && begins_name(text[0]) && std::all_of(text.begin(), text.end(), in_name);
}

class Scanner {
 public:
  static constexpr std::string_view kBlanks = " \t\n\r";

  explicit constexpr Scanner(std::string_view text, std::string_view blanks = kBlanks) : text_(text), blanks_(blanks) {}

  std::string_view text() const { return text_; }
  std::size_t at() const { return at_; }
  void go(std::size_t at) { at_ = std::min(at, text_.size()); }
  bool at_end() const { return at_ == text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }

  // ---- exactly here

  /// '\0' behind the end, but also where the text has one.
  char here(std::size_t ahead = 0) const { return ahead < text_.size() - at_ ? text_[at_ + ahead] : '\0'; }
  template <class Belongs>
  std::string_view run(Belongs belongs) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    return since(begin);
  }
  /// The string whose opening quote is here, with both quotes; a backslash takes the next byte along. Up to the end where none closes it.
  std::string_view string() {
    const std::size_t begin = at_;
    const char quote = here();
    for (go(at_ + 1); !at_end() && here() != quote;) go(at_ + (here() == '\\' ? 2 : 1));
    go(at_ + 1);
    return since(begin);
  }
  /// The same without quotes and backslashes; nothing where no quote closes it.
  std::optional<std::string> unquoted() {
    const char quote = here();
    std::string out;
    for (go(at_ + 1); !at_end(); go(at_ + 1)) {
      if (here() == quote) return go(at_ + 1), out;
      if (here() == '\\' && at_ + 1 < text_.size()) ++at_;
      out += here();
    }
    return std::nullopt;
  }
  /// As std::from_chars reads it: no blank, no plus. The place stays where that fails or the number does not fit.
  template <class Number>
  std::errc number(Number& to) {
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), to);
    if (error == std::errc()) at_ = static_cast<std::size_t>(end - text_.data());
    return error;
  }

  // ---- behind blanks

  void skip_blanks() { go(text_.find_first_not_of(blanks_, at_)); }
  char peek() { return skip_blanks(), here(); }
  bool done() { return skip_blanks(), at_end(); }
  bool take(char c) { return take(std::string_view(&c, 1)); }
  bool take(std::string_view mark) {
    skip_blanks();
    if (!rest().starts_with(mark)) return false;
    at_ += mark.size();
    return true;
  }
  /// A letter or '_' and what follows of letters, digits and '_'; empty where no name begins.
  std::string_view name() { return begins_name(peek()) ? run(in_name) : std::string_view(); }

 private:
  std::string_view text_, blanks_;
  std::size_t at_ = 0;
};

/// Without blanks at its ends.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = Scanner::kBlanks) {
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  return text.substr(std::min(text.find_first_not_of(blanks), text.size()));
}

/// The number that the text begins with.
template <class Number>
Number number_in_front(std::string_view text, Number otherwise = {}) {
  Scanner(text).number(otherwise);
  return otherwise;
}

/// The number that all of the text is; nothing where it is none, or does not fit.
template <class Number>
std::optional<Number> read_number(std::string_view text) {
  Scanner scanner(text);
  Number number{};
  return scanner.number(number) == std::errc() && scanner.at_end() ? std::optional(number) : std::nullopt;
}

}  // namespace heddle
