#include "core/mlir/lexer.h"

#include <algorithm>

#include "core/base/scanner.h"

namespace heddle::mlir {
namespace {

bool in_word(char c) { return in_name(c) || c == '.' || c == '$'; }

}  // namespace

void Lexer::skip_blank() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      fresh_ = true;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (fresh_ && text_.substr(at_, 3) == "{-#") {  // resources of the file and what reproduces a failed pass: no part of the module
      const std::size_t end = std::min(text_.find("#-}", at_), text_.size());
      for (; at_ < end; ++at_)
        if (text_[at_] == '\n') ++line_;
      at_ = std::min(at_ + 3, text_.size());
    } else {
      return;
    }
  }
}

Token Lexer::scan() {
  skip_blank();
  Token token;
  token.first = fresh_;
  token.line = line_;
  token.begin = token.end = static_cast<std::uint32_t>(at_);
  if (at_ >= text_.size()) return token;
  fresh_ = false;
  const char c = text_[at_];
  std::size_t end = at_ + 1;
  const auto run = [&](bool dashes) {
    while (end < text_.size() && (in_word(text_[end]) || (dashes && text_[end] == '-' && text_.substr(end, 2) != "->"))) ++end;
  };
  const auto named = [&](Token::Kind kind, bool dashes) {
    run(dashes);
    if (end > at_ + 1) {
      token.kind = kind;
    } else {
      token.kind = Token::Kind::Mark;
      token.mark = c;
    }
  };
  const auto quoted = [&] {  // `end` is behind the opening quote
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
      end += text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n' ? 2 : 1;
    if (end < text_.size() && text_[end] == '"')
      ++end;
    else
      token.broken = true;
  };
  if (in_word(c)) {
    run(false);
    token.kind = Token::Kind::Word;
  } else if (c == '%') {
    named(Token::Kind::Value, true);
    if (token.kind == Token::Kind::Value && end + 1 < text_.size() && text_[end] == '#' && is_digit(text_[end + 1]))
      for (++end; end < text_.size() && is_digit(text_[end]);) ++end;
  } else if (c == '#') {
    named(Token::Kind::Hash, false);
  } else if (c == '!') {
    named(Token::Kind::Type, false);
  } else if (c == '^') {
    named(Token::Kind::Label, true);
  } else if (c == '@') {
    if (end < text_.size() && text_[end] == '"') {
      token.kind = Token::Kind::Symbol;
      ++end;
      quoted();
    } else {
      named(Token::Kind::Symbol, true);
    }
  } else if (c == '"') {
    token.kind = Token::Kind::String;
    quoted();
  } else if (text_.substr(at_, 2) == "->") {
    token.kind = Token::Kind::Arrow;
    end = at_ + 2;
  } else {
    token.kind = Token::Kind::Mark;
    token.mark = c;
  }
  token.end = static_cast<std::uint32_t>(end);
  at_ = end;
  return token;
}

bool Lexer::goes_on() const {
  const Token& last = tokens_.back();
  if (ahead_.kind == Token::Kind::Mark && (ahead_.mark == ']' || ahead_.mark == ')' || ahead_.mark == '>')) return true;
  if (last.kind == Token::Kind::Arrow) return true;
  if (last.kind != Token::Kind::Mark) return false;
  if (last.mark == ':') return tokens_.front().kind != Token::Kind::Label;
  return last.mark == ',' || last.mark == '(' || last.mark == '[' || last.mark == '<' || last.mark == '=';
}

const std::vector<Token>& Lexer::next_line() {
  tokens_.clear();
  too_long_ = false;
  while (ahead_.kind != Token::Kind::End && (tokens_.empty() || !ahead_.first || goes_on())) {
    if (tokens_.size() < kLongestLine)
      tokens_.push_back(ahead_);
    else
      too_long_ = true;
    ahead_ = scan();
  }
  return tokens_;
}

}  // namespace heddle::mlir
