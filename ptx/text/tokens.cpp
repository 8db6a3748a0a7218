#include "ptx/text/tokens.h"

namespace heddle::ptx {

namespace {

bool belongs_to_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/// The end of the word that begins at `at`: "::" joins two, and so does the sign of a decimal exponent ("1.5e-3").
std::size_t word_end(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  bool point = false;
  while (at < text.size()) {
    const char c = text[at];
    if (belongs_to_word(c)) {
      point = point || c == '.';
      ++at;
    } else if (c == ':' && at + 2 < text.size() && text[at + 1] == ':' && belongs_to_word(text[at + 2])) {
      at += 2;
    } else if ((c == '-' || c == '+') && point && is_digit(text[begin]) && (text[at - 1] == 'e' || text[at - 1] == 'E')) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

}  // namespace

PtxTokens::PtxTokens(std::string_view text) : text_(text), taken_end_(text.data()) { read(); }

/// False where a comment does not close.
bool PtxTokens::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
      const std::size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return false;
      for (; at_ < end; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
      at_ += 2;
    } else {
      break;
    }
  }
  return true;
}

void PtxTokens::read() {
  const bool closed = skip_blanks();
  next_ = {PtxToken::Kind::End, text_.substr(text_.size()), line_};
  if (!closed) {
    broken_ = "a comment that begins here does not close";
    at_ = text_.size();
  }
  if (at_ >= text_.size()) return;
  const std::size_t begin = at_;
  const char c = text_[begin];
  if (c == '"') {
    std::size_t end = begin + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size() || text_[end] != '"') {
      broken_ = "a string that begins here does not close";
      at_ = text_.size();
      return;
    }
    next_ = {PtxToken::Kind::Quoted, text_.substr(begin + 1, end - begin - 1), line_};
    at_ = end + 1;
  } else if (belongs_to_word(c)) {
    at_ = word_end(text_, begin);
    next_ = {PtxToken::Kind::Word, text_.substr(begin, at_ - begin), line_};
  } else {
    next_ = {PtxToken::Kind::Mark, text_.substr(begin, 1), line_};
    ++at_;
  }
}

PtxToken PtxTokens::take() {
  const PtxToken token = next_;
  taken_end_ = text_.data() + at_;
  read();
  return token;
}

bool PtxTokens::take_if(char mark) {
  if (!next_.is(mark)) return false;
  take();
  return true;
}

bool PtxTokens::take_if(std::string_view word) {
  if (!next_.is_word() || next_.text != word) return false;
  take();
  return true;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string words;
  for (const char c : text.substr(0, kMost)) words += c >= ' ' && c != 127 ? c : '?';
  return text.size() > kMost ? words + "..." : words;
}

}  // namespace heddle::ptx
