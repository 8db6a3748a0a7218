// Python source as far as a loop can be taken apart by it: logical lines, and for each statement the names that it reads and writes. No
// Python is run, and nothing is guessed: what hides a name (an f-string, a comprehension, an assignment to an element) is refused.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heddle::triton {

struct PythonToken {
  enum class Kind { Name, Number, String, FormattedString, Sign };
  Kind kind = Kind::Sign;
  std::size_t begin = 0, end = 0;  ///< bytes of the source
};

/// What Python takes for one line: continued in brackets, in strings of three quotes and behind a backslash.
struct PythonLine {
  int first = 0, last = 0;  ///< numbers in the file, from 1
  std::string indent;
  std::vector<PythonToken> tokens;  ///< never empty
};

/// A statement of a block, with all that is indented below it.
struct PythonStatement {
  int first = 0, last = 0;
  std::size_t begin = 0, end = 0;  ///< lines of PythonText::lines
  std::set<std::string> reads;     ///< names as they were before it; those that it may leave as they were are among them
  std::set<std::string> writes;
};

using PythonNames = std::map<std::string, std::string, std::less<>>;

class PythonText {
 public:
  /// Linear in the source, whatever it is; carriage returns and a mark at its beginning are dropped.
  explicit PythonText(std::string_view source);

  const std::vector<PythonLine>& lines() const { return lines_; }
  std::string_view word(const PythonToken& token) const { return std::string_view(text_).substr(token.begin, token.end - token.begin); }
  /// The source between two tokens of a line, both included.
  std::string_view between(const PythonToken& first, const PythonToken& last) const {
    return std::string_view(text_).substr(first.begin, last.end - first.begin);
  }
  /// Lines `first` to `last` of the file, each ended.
  std::string raw(int first, int last) const;
  /// The same with names of variables replaced; names of attributes and of keyword arguments are none.
  std::string raw(int first, int last, const PythonNames& renamed) const;
  bool has_name(std::string_view name) const;
  /// Comments in lines of their own that stand right above the line.
  std::string comments_above(int line, int after) const;

  /// The logical line that begins with this keyword and holds line `number` of the file; lines().size(): none does.
  std::size_t find(std::string_view keyword, int number) const;
  /// Lines below `head` that are indented deeper: one past the last of them.
  std::size_t block_end(std::size_t head) const;
  /// The statements of these lines, which form a block. Faults have the line of the file as pointer.
  Result<std::vector<PythonStatement>> statements(std::size_t begin, std::size_t end) const;
  /// Whether a decorator of the function around a line has this name in it.
  bool decorated(std::size_t line, std::string_view name) const;
  /// Names that are surely known before `line`: parameters of the function around it and what was assigned above it in the blocks around.
  std::set<std::string> known_before(std::size_t line) const;

 private:
  struct Effects {
    std::set<std::string> reads, writes;
  };
  std::size_t function_around(std::size_t line, std::set<std::size_t>* heads) const;
  void read_line(std::size_t& at, int& number);
  void read_string(std::size_t& at, int& number) const;
  bool is(const PythonLine& line, std::size_t token, std::string_view word) const;
  bool variable(const PythonLine& line, std::size_t token, int depth) const;
  Error trouble(const PythonLine& line, std::string message, std::string hint = {}) const;
  Result<Effects> simple(const PythonLine& line) const;
  Result<Effects> expression(const PythonLine& line, std::size_t begin, std::size_t end) const;
  Result<std::set<std::string>> targets(const PythonLine& line, std::size_t begin, std::size_t end) const;
  Result<Effects> choice(std::size_t& at, std::size_t end, int depth) const;
  Result<Effects> block(std::size_t begin, std::size_t end, int depth, std::vector<PythonStatement>* found) const;

  std::string text_;
  std::vector<std::size_t> starts_;  ///< of each line of the file
  std::vector<PythonLine> lines_;
};

}  // namespace heddle::triton
