// A JSON text as its writer sees it, also while it is being typed: pieces to colour, the place of a pointer, and what stands around the
// caret. Faulty text is never refused; behind a fault the outline is a guess.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heddle {

struct JsonToken {
  enum class Kind { Punctuation, Key, String, Number, Word };
  Kind kind = Kind::Punctuation;
  std::size_t begin = 0, end = 0;  ///< bytes of the text; strings with their quotes
  std::string pointer;             ///< of the value that it belongs to; keys have that of their member
};

std::vector<JsonToken> json_tokens(std::string_view text);

/// The token where that value begins, or the nearest value around it that is there; nothing for an empty text.
const JsonToken* json_token_at(const std::vector<JsonToken>& tokens, std::string_view pointer);

/// What can be typed at a byte of the text.
struct JsonCaret {
  enum class Expects { Nothing, Key, Value };
  Expects expects = Expects::Nothing;
  std::string pointer;     ///< Key: of the object; Value: of the value
  std::string typed;       ///< what stands before the caret of the word or string there, without its quote
  std::size_t begin = 0;   ///< where that begins
  bool in_string = false;  ///< behind an opening quote
};
JsonCaret json_caret(std::string_view text, std::size_t offset);

/// Lines count from 0; an offset behind the end is on the last line.
std::size_t line_of(std::string_view text, std::size_t offset);
/// The line that a fault in this text means: that of its pointer, or the one that a syntax error names. The first line where neither is
/// there.
std::size_t line_of_fault(std::string_view text, const std::vector<JsonToken>& tokens, const Fault& fault);

}  // namespace heddle
