#include "core/base/json_outline.h"

#include <algorithm>
#include <cstdio>

#include "core/base/json.h"
#include "core/base/scanner.h"

namespace heddle {
namespace {

bool is_mark(char c) { return c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',' || c == '"'; }

/// Goes through a text token by token and keeps track of where it is.
class Outline {
 public:
  explicit Outline(std::string_view text) : in_(text) {}

  std::vector<JsonToken> tokens;

  void run() {
    while (!in_.done()) {
      const char c = in_.here();
      if (c == '"')
        string();
      else if (is_mark(c))
        mark(c);
      else
        word();
    }
  }

  /// What the text expects at its end.
  JsonCaret caret() const {
    JsonCaret caret;
    caret.begin = in_.text().size();
    bool wants = wants_;
    if (!tokens.empty() && tokens.back().end == in_.text().size()) {
      // Still inside the last word or string?
      const JsonToken& last = tokens.back();
      const bool quoted = last.kind == JsonToken::Kind::Key || last.kind == JsonToken::Kind::String;
      if (quoted ? open_string_ : last.kind != JsonToken::Kind::Punctuation) {
        caret.in_string = quoted;
        caret.begin = last.begin + (quoted ? 1 : 0);
        caret.typed = in_.text().substr(caret.begin);
        caret.expects = last_was_key_ ? JsonCaret::Expects::Key : JsonCaret::Expects::Value;
        caret.pointer = last_was_key_ ? container() : last.pointer;
        return caret;
      }
      if (quoted) wants = false;
    }
    if (!wants || levels_.empty()) return caret;
    const Level& level = levels_.back();
    caret.expects = level.object && !level.after_colon ? JsonCaret::Expects::Key : JsonCaret::Expects::Value;
    caret.pointer = caret.expects == JsonCaret::Expects::Key ? container() : value_pointer();
    return caret;
  }

 private:
  struct Level {
    bool object = false;
    std::string pointer;
    std::string key;
    std::size_t index = 0;
    bool after_colon = false;
  };

  std::string container() const { return levels_.empty() ? std::string() : levels_.back().pointer; }
  std::string value_pointer() const {
    if (levels_.empty()) return {};
    const Level& level = levels_.back();
    return level.object ? pointer_to(level.pointer, level.key) : pointer_to(level.pointer, level.index);
  }

  void add(JsonToken::Kind kind, std::size_t begin, std::string pointer) { tokens.push_back({kind, begin, in_.at(), std::move(pointer)}); }

  void string() {
    const std::size_t begin = in_.at();
    open_string_ = true;
    std::string value;
    for (in_.go(begin + 1); open_string_ && !in_.at_end() && in_.here() != '\n'; in_.go(in_.at() + 1)) {
      open_string_ = in_.here() != '"';
      if (in_.here() == '\\' && in_.rest().size() > 1) in_.go(in_.at() + 1);
      if (open_string_) value += in_.here();
    }
    last_was_key_ = !levels_.empty() && levels_.back().object && !levels_.back().after_colon;
    if (last_was_key_) levels_.back().key = value;
    add(last_was_key_ ? JsonToken::Kind::Key : JsonToken::Kind::String, begin, value_pointer());
    wants_ = false;
  }

  void word() {
    const std::size_t begin = in_.at();
    const char first = in_.here();
    in_.run([](char c) { return Scanner::kBlanks.find(c) == std::string_view::npos && !is_mark(c); });
    last_was_key_ = !levels_.empty() && levels_.back().object && !levels_.back().after_colon;
    add(first == '-' || is_digit(first) ? JsonToken::Kind::Number : JsonToken::Kind::Word, begin,
        last_was_key_ ? container() : value_pointer());
    wants_ = false;
  }

  void mark(char c) {
    const std::size_t begin = in_.at();
    in_.go(begin + 1);
    switch (c) {
      case '{':
      case '[': {
        const std::string pointer = value_pointer();
        levels_.push_back({c == '{', pointer, {}, 0, false});
        add(JsonToken::Kind::Punctuation, begin, pointer);
        wants_ = true;
        return;
      }
      case '}':
      case ']': {
        std::string pointer = container();
        if (!levels_.empty()) levels_.pop_back();
        add(JsonToken::Kind::Punctuation, begin, std::move(pointer));
        wants_ = false;
        return;
      }
      case ':':
        if (!levels_.empty()) levels_.back().after_colon = true;
        break;
      default:  // ','
        if (!levels_.empty()) {
          ++levels_.back().index;
          levels_.back().after_colon = false;
        }
        break;
    }
    add(JsonToken::Kind::Punctuation, begin, container());
    wants_ = true;
  }

  Scanner in_;
  std::vector<Level> levels_;
  bool open_string_ = false, last_was_key_ = false;
  bool wants_ = true;  ///< a key or a value may come next
};

}  // namespace

std::vector<JsonToken> json_tokens(std::string_view text) {
  Outline outline(text);
  outline.run();
  return std::move(outline.tokens);
}

const JsonToken* json_token_at(const std::vector<JsonToken>& tokens, std::string_view pointer) {
  for (;;) {
    const auto found = std::find_if(tokens.begin(), tokens.end(), [&](const JsonToken& token) { return token.pointer == pointer; });
    if (found != tokens.end()) return &*found;
    if (pointer.empty()) return nullptr;
    const std::size_t slash = pointer.rfind('/');
    pointer = pointer.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

JsonCaret json_caret(std::string_view text, std::size_t offset) {
  Outline outline(text.substr(0, std::min(offset, text.size())));
  outline.run();
  return outline.caret();
}

std::size_t line_of(std::string_view text, std::size_t offset) {
  return static_cast<std::size_t>(
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size())), '\n'));
}

std::size_t line_of_fault(std::string_view text, const std::vector<JsonToken>& tokens, const Fault& fault) {
  // The words of json_parse.cpp; a test holds the two together.
  std::size_t line = 0, column = 0;
  if (std::sscanf(fault.message.c_str(), "not valid JSON at line %zu, column %zu", &line, &column) == 2 && line > 0) {
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    return std::min(line - 1, lines);
  }
  const JsonToken* token = json_token_at(tokens, fault.pointer);
  return token ? line_of(text, token->begin) : 0;
}

}  // namespace heddle
