// The words of MLIR's printed assembly, one line at a time: what it takes in memory is one line, however long the text is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::mlir {

struct Token {
  enum class Kind : std::uint8_t {
    End,
    Word,    ///< "tt.load", "128x64xbf16", "3"
    Value,   ///< "%acc_7#3"
    Hash,    ///< "#blocked", "#ttg.slice"
    Type,    ///< "!ttg.memdesc"
    Symbol,  ///< "@name"
    Label,   ///< "^bb0"
    String,  ///< with its quotes; `broken` where the line ends before it does
    Arrow,   ///< "->"
    Mark,    ///< any other single character
  };
  Kind kind = Kind::End;
  bool first = false;   ///< of its line
  bool broken = false;  ///< a string without its end
  char mark = 0;        ///< of Mark
  std::uint32_t line = 0;
  std::uint32_t begin = 0, end = 0;
};

class Lexer {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;  ///< tokens

  explicit Lexer(std::string_view text) : text_(text) { ahead_ = scan(); }

  /// The tokens of the next line that has some; none at the end of the text. A line goes on in the next one where a bracket or a list is
  /// left open at its end - but not by "{", which begins a region there.
  const std::vector<Token>& next_line();
  /// The last line had more than kLongestLine tokens, and the rest of it was left out.
  bool too_long() const { return too_long_; }
  /// Lines so far.
  std::uint32_t line() const { return line_; }

 private:
  Token scan();
  void skip_blank();
  bool goes_on() const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool fresh_ = true;  ///< nothing of this line was given yet
  bool too_long_ = false;
  Token ahead_;
  std::vector<Token> tokens_;
};

}  // namespace heddle::mlir
