#include "tests/support/ptx_statements.h"

#include <algorithm>
#include <array>

namespace heddle::test {

namespace {

bool in_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.' ||
         c == ':';
}
bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

class StatementScan {
 public:
  explicit StatementScan(std::string_view text) : text_(text) {}

  std::vector<PtxStatement> scan() {
    int depth = 0;
    bool follows = false;
    for (skip(); at_ < text_.size(); skip()) {
      const char c = text_[at_];
      if (c == '{' || c == '}') {
        depth += c == '{' ? 1 : -1;
        ++at_;
      } else if (depth == 0 && c == '(') {
        while (at_ < text_.size() && text_[at_] != ')') step();
      } else if (c == '.') {
        follows = directive() && follows;
        continue;
      } else if (depth > 0 && (c == '@' || in_word(c)) && !label()) {
        statement(follows);
        follows = true;
        continue;
      } else if (depth == 0 || !in_word(c)) {
        ++at_;
      }
      follows = false;
    }
    return std::move(statements_);
  }

 private:
  void step() {
    line_ += text_[at_] == '\n' ? 1 : 0;
    ++at_;
  }
  void skip() {
    while (at_ < text_.size()) {
      if (blank(text_[at_])) {
        step();
      } else if (text_.substr(at_, 2) == "//") {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
        while (at_ < end) step();
      } else {
        return;
      }
    }
  }

  /// Directives that begin with a point; a section is skipped whole. True for a place in the source.
  bool directive() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == ".section") {
      at_ = std::min(text_.find('}', at_), text_.size());
      if (at_ < text_.size()) ++at_;
      return false;
    }
    const bool to_line_end = word == ".loc" || word == ".file" || word == ".version" || word == ".target" || word == ".address_size";
    static constexpr std::array<std::string_view, 8> kDeclarations = {".reg",   ".shared", ".global",        ".const",
                                                                      ".local", ".pragma", ".branchtargets", ".callprototype"};
    const bool to_semicolon = std::find(kDeclarations.begin(), kDeclarations.end(), word) != kDeclarations.end();
    while ((to_line_end || to_semicolon) && at_ < text_.size() && text_[at_] != (to_line_end ? '\n' : ';')) step();
    if (to_semicolon && at_ < text_.size()) ++at_;
    return word == ".loc";
  }

  bool label() {
    std::size_t end = at_;
    while (end < text_.size() && in_word(text_[end]) && text_[end] != ':') ++end;
    if (end >= text_.size() || text_[end] != ':' || text_.substr(end, 2) == "::") return false;
    at_ = end + 1;
    return true;
  }

  void statement(bool follows) {
    PtxStatement statement;
    statement.begin = at_;
    statement.line = line_;
    statement.follows = follows;
    if (text_[at_] == '@') {
      while (at_ < text_.size() && !blank(text_[at_])) ++at_;
      while (at_ < text_.size() && blank(text_[at_])) step();
      statement.guard = text_.substr(statement.begin, at_ - statement.begin);
    }
    const std::size_t name = at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    statement.mnemonic = text_.substr(name, at_ - name);
    std::size_t operand = at_;
    int depth = 0;
    for (; at_ < text_.size(); step()) {
      const char c = text_[at_];
      depth += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
      if (c == ';' || (c == ',' && depth == 0)) {
        const std::string_view words = trimmed(text_.substr(operand, at_ - operand));
        if (!words.empty()) statement.operands.push_back(words);
        operand = at_ + 1;
      }
      if (c == ';') break;
    }
    if (at_ < text_.size()) ++at_;
    statement.end = at_;
    statements_.push_back(std::move(statement));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<PtxStatement> statements_;
};

}  // namespace

std::vector<PtxStatement> ptx_statements(std::string_view text) { return StatementScan(text).scan(); }

}  // namespace heddle::test
