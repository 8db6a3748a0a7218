// Words, marks and strings of a PTX text, one at a time, with their lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::ptx {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct PtxToken {
  enum class Kind {
    Word,    ///< a name, a number, a directive or a whole mnemonic: "%r1", "0x10", ".reg", "mbarrier.init.shared::cta.b64"
    Quoted,  ///< what stands between quotation marks
    Mark,    ///< any other byte
    End,
  };
  Kind kind = Kind::End;
  std::string_view text;
  int line = 1;

  bool is(char mark) const { return kind == Kind::Mark && text[0] == mark; }
  bool is_word() const { return kind == Kind::Word; }
  bool is_directive() const { return is_word() && text[0] == '.'; }
};

/// Reads ahead by one token. A copy is a place to come back to.
class PtxTokens {
 public:
  explicit PtxTokens(std::string_view text);

  const PtxToken& next() const { return next_; }
  PtxToken take();
  bool take_if(char mark);
  bool take_if(std::string_view word);
  bool at_end() const { return next_.kind == PtxToken::Kind::End; }
  /// Where the last token that was taken ended.
  const char* taken_end() const { return taken_end_; }
  /// A comment or string that does not close, which ends the text; "" where there is none. Its line is next().line.
  std::string_view broken() const { return broken_; }

 private:
  void read();
  bool skip_blanks();

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  PtxToken next_;
  const char* taken_end_ = nullptr;
  std::string_view broken_;
};

/// Words of a fault: at most 60 bytes of what stands in the text, without control characters.
std::string quoted(std::string_view text);

}  // namespace heddle::ptx
