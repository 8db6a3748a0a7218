#include "app/window/parts/ttgir_tokens.h"

#include <algorithm>
#include <array>

#include "core/base/scanner.h"

namespace heddle::app {
namespace {

bool of_name(char c) { return in_name(c) || c == '.' || c == '$' || c == '-'; }

/// Attributes in which Triton's compiler says what it decided.
bool decides(std::string_view word) {
  constexpr std::array<std::string_view, 3> kBegin{"loop.", "ttg.partition", "tt.scheduled_max_stage"};
  return std::any_of(kBegin.begin(), kBegin.end(), [&](std::string_view begin) { return word.starts_with(begin); });
}

}  // namespace

std::vector<TtgirToken> ttgir_tokens(std::string_view text) {
  std::vector<TtgirToken> tokens;
  std::size_t at = 0;
  const auto while_in = [&](std::size_t from, auto belongs) {
    while (from < text.size() && belongs(text[from])) ++from;
    return from;
  };
  const auto add = [&](TtgirToken::Kind kind, std::size_t end) {
    tokens.push_back({kind, at, end});
    at = end;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      add(TtgirToken::Kind::String, std::min(end + 1, text.size()));
    } else if (c == '%') {
      add(TtgirToken::Kind::Value, while_in(at + 1, [](char x) { return of_name(x) || x == '#' || x == ':'; }));
      while (text[tokens.back().end - 1] == ':') at = --tokens.back().end;  // "%a:" ends with a colon that is not its own
    } else if (c == '#' || c == '!') {
      add(TtgirToken::Kind::Rest, while_in(at + 1, of_name));
    } else if (begins_name(c)) {
      const std::size_t end = while_in(at, of_name);
      const std::string_view word = text.substr(at, end - at);
      if (decides(word)) {
        std::size_t value = while_in(end, [](char x) { return x == ' ' || x == '='; });
        if (value < text.size() && is_digit(text[value])) value = while_in(value, is_digit);
        add(TtgirToken::Kind::Decision, value);
      } else if (word.find('.') != std::string_view::npos) {
        add(TtgirToken::Kind::Op, end);
      } else {
        add(TtgirToken::Kind::Rest, end);
      }
    } else if (is_digit(c)) {
      // 128x64xf16 is a type, and one piece.
      const std::size_t end = while_in(at, [](char x) { return in_name(x) || x == '.'; });
      const std::string_view word = text.substr(at, end - at);
      add(std::all_of(word.begin(), word.end(), [](char x) { return is_digit(x) || x == '.' || x == 'e' || x == 'E'; })
              ? TtgirToken::Kind::Number
              : TtgirToken::Kind::Rest,
          end);
    } else {
      ++at;
    }
  }
  return tokens;
}

}  // namespace heddle::app
