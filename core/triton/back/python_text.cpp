#include "core/triton/back/python_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/scanner.h"

namespace heddle::triton {
namespace {

constexpr int kDeepestBlock = 32;

constexpr std::string_view kKeywords[] = {"False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
                                          "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
                                          "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
                                          "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

constexpr std::string_view kSigns[] = {"**=", "//=", ">>=", "<<=", "...", ":=", "==", "!=", "<=", ">=", "->", "+=",
                                       "-=",  "*=",  "/=",  "%=",  "@=",  "&=", "|=", "^=", "**", "//", "<<", ">>"};

bool name_begins(char c) { return begins_name(c) || static_cast<unsigned char>(c) >= 0x80; }
bool name_goes_on(char c) { return name_begins(c) || is_digit(c); }
bool is_keyword(std::string_view word) { return std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords); }

/// Whether a name can stand right in front of a string as its prefix.
bool string_prefix(std::string_view word) { return word.size() <= 2 && word.find_first_not_of("rRbBuUfFtT") == std::string_view::npos; }

bool opens(std::string_view sign) { return sign == "(" || sign == "[" || sign == "{"; }
bool closes(std::string_view sign) { return sign == ")" || sign == "]" || sign == "}"; }
/// "+=" and its like.
bool augments(std::string_view sign) {
  return sign.size() >= 2 && sign.back() == '=' && sign != "==" && sign != "!=" && sign != "<=" && sign != ">=" && sign != ":=";
}

}  // namespace

PythonText::PythonText(std::string_view source) {
  if (source.starts_with("\xEF\xBB\xBF")) source.remove_prefix(3);
  text_.reserve(source.size() + 1);
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r')
      text_ += source[i];
    else if (i + 1 >= source.size() || source[i + 1] != '\n')
      text_ += '\n';
  }
  if (!text_.empty() && text_.back() != '\n') text_ += '\n';
  for (std::size_t begin = 0; begin < text_.size(); begin = text_.find('\n', begin) + 1) starts_.push_back(begin);
  int number = 1;
  for (std::size_t at = 0; at < text_.size();) read_line(at, number);
}

void PythonText::read_string(std::size_t& at, int& number) const {
  const char quote = text_[at];
  const bool three = text_.compare(at, 3, std::string(3, quote)) == 0;
  at += three ? 3 : 1;
  while (at < text_.size()) {
    const char c = text_[at];
    if (c == '\\' && at + 1 < text_.size()) {
      if (text_[at + 1] == '\n') ++number;
      at += 2;
    } else if (c == '\n') {
      if (!three) return;  // it has no end, and no Python either
      ++number;
      ++at;
    } else if (c == quote && !three) {
      ++at;
      return;
    } else if (c == quote && text_.compare(at, 3, std::string(3, quote)) == 0) {
      at += 3;
      return;
    } else {
      ++at;
    }
  }
}

void PythonText::read_line(std::size_t& at, int& number) {
  PythonLine line;
  const std::size_t begin = at;
  while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t' || text_[at] == '\f')) ++at;
  line.indent = text_.substr(begin, at - begin);
  line.first = number;
  int depth = 0;
  while (at < text_.size()) {
    const char c = text_[at];
    if (c == '\n') {
      ++at;
      ++number;
      if (depth > 0 && at < text_.size()) continue;
      break;
    }
    if (c == '\\' && at + 1 < text_.size() && text_[at + 1] == '\n') {
      at += 2;
      ++number;
    } else if (c == '#') {
      at = std::min(text_.find('\n', at), text_.size());
    } else if (c == ' ' || c == '\t' || c == '\f') {
      ++at;
    } else {
      PythonToken token{PythonToken::Kind::Sign, at, at + 1};
      if (c == '"' || c == '\'') {
        token.kind = PythonToken::Kind::String;
        read_string(at, number);
        token.end = at;
      } else if (is_digit(c) || (c == '.' && at + 1 < text_.size() && is_digit(text_[at + 1]))) {
        token.kind = PythonToken::Kind::Number;
        while (at < text_.size() && (name_goes_on(text_[at]) || text_[at] == '.' ||
                                     ((text_[at] == '+' || text_[at] == '-') && (text_[at - 1] == 'e' || text_[at - 1] == 'E') &&
                                      text_.compare(token.begin, 2, "0x") != 0)))
          ++at;
        token.end = at;
      } else if (name_begins(c)) {
        while (at < text_.size() && name_goes_on(text_[at])) ++at;
        token.kind = PythonToken::Kind::Name;
        token.end = at;
        if (at < text_.size() && (text_[at] == '"' || text_[at] == '\'') && string_prefix(word(token))) {
          const bool formatted = word(token).find_first_of("fFtT") != std::string_view::npos;
          token.kind = formatted ? PythonToken::Kind::FormattedString : PythonToken::Kind::String;
          read_string(at, number);
          token.end = at;
        }
      } else {
        for (const std::string_view sign : kSigns)
          if (text_.compare(at, sign.size(), sign) == 0) {
            token.end = at + sign.size();
            break;
          }
        at = token.end;
        if (opens(word(token))) ++depth;
        if (closes(word(token)) && depth > 0) --depth;
      }
      if (line.tokens.empty())
        line.first = number - static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(token.begin),
                                                          text_.begin() + static_cast<std::ptrdiff_t>(token.end), '\n'));
      line.tokens.push_back(token);
    }
  }
  line.last = number - 1;
  if (!line.tokens.empty()) lines_.push_back(std::move(line));
}

std::string PythonText::raw(int first, int last) const { return raw(first, last, {}); }

std::string PythonText::raw(int first, int last, const PythonNames& renamed) const {
  if (first < 1 || static_cast<std::size_t>(first) > starts_.size() || last < first) return {};
  const std::size_t begin = starts_[static_cast<std::size_t>(first) - 1];
  const std::size_t end = static_cast<std::size_t>(last) < starts_.size() ? starts_[static_cast<std::size_t>(last)] : text_.size();
  if (renamed.empty()) return text_.substr(begin, end - begin);
  std::string out;
  std::size_t done = begin;
  auto line = std::lower_bound(lines_.begin(), lines_.end(), first, [](const PythonLine& l, int number) { return l.first < number; });
  for (; line != lines_.end() && line->first <= last; ++line) {
    int depth = 0;
    for (std::size_t i = 0; i < line->tokens.size(); ++i) {
      const PythonToken& token = line->tokens[i];
      if (opens(word(token))) ++depth;
      if (closes(word(token))) --depth;
      const auto to = token.kind == PythonToken::Kind::Name ? renamed.find(word(token)) : renamed.end();
      if (to == renamed.end() || !variable(*line, i, depth)) continue;
      out.append(text_, done, token.begin - done);
      out += to->second;
      done = token.end;
    }
  }
  out.append(text_, done, end - done);
  return out;
}

bool PythonText::has_name(std::string_view name) const {
  for (const PythonLine& line : lines_)
    for (const PythonToken& token : line.tokens)
      if (token.kind == PythonToken::Kind::Name && word(token) == name) return true;
  return false;
}

std::string PythonText::comments_above(int line, int after) const {
  int first = line;
  while (first - 1 > after) {
    const std::string above = raw(first - 1, first - 1);
    const std::size_t at = above.find_first_not_of(" \t\f");
    if (at == std::string::npos || above[at] != '#') break;
    --first;
  }
  return first < line ? raw(first, line - 1) : std::string();
}

std::size_t PythonText::find(std::string_view keyword, int number) const {
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (lines_[i].first <= number && number <= lines_[i].last && is(lines_[i], 0, keyword)) return i;
  return lines_.size();
}

std::size_t PythonText::block_end(std::size_t head) const {
  std::size_t end = head + 1;
  while (end < lines_.size() && lines_[end].indent.size() > lines_[head].indent.size() &&
         lines_[end].indent.starts_with(lines_[head].indent))
    ++end;
  return end;
}

bool PythonText::is(const PythonLine& line, std::size_t token, std::string_view text) const {
  return token < line.tokens.size() && word(line.tokens[token]) == text;
}

bool PythonText::variable(const PythonLine& line, std::size_t token, int depth) const {
  if (line.tokens[token].kind != PythonToken::Kind::Name || is_keyword(word(line.tokens[token]))) return false;
  if (token > 0 && is(line, token - 1, ".")) return false;
  return depth == 0 || !is(line, token + 1, "=") || !(is(line, token - 1, "(") || is(line, token - 1, ","));
}

Error PythonText::trouble(const PythonLine& line, std::string message, std::string hint) const {
  return Error{ErrorKind::Input, {{{}, fmt::format("{}", line.first), std::move(message), std::move(hint)}}};
}

Result<PythonText::Effects> PythonText::expression(const PythonLine& line, std::size_t begin, std::size_t end) const {
  Effects effects;
  int depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const PythonToken& token = line.tokens[i];
    const std::string_view text = word(token);
    if (token.kind == PythonToken::Kind::FormattedString)
      return trouble(line, "a formatted string hides the names that it reads", "leave it out while the loop is rotated");
    if (text == ":=") return trouble(line, "an assignment inside an expression", "assign in a line of its own");
    if (text == "for" || text == "lambda" || text == "await" || text == "yield")
      return trouble(line, fmt::format("'{}' inside an expression", text), "write it in lines of its own");
    if (opens(text)) ++depth;
    if (closes(text)) --depth;
    if (variable(line, i, depth)) effects.reads.emplace(text);
  }
  return effects;
}

Result<std::set<std::string>> PythonText::targets(const PythonLine& line, std::size_t begin, std::size_t end) const {
  std::set<std::string> names;
  for (std::size_t i = begin; i < end; ++i) {
    const PythonToken& token = line.tokens[i];
    const std::string_view text = word(token);
    if (token.kind == PythonToken::Kind::Name && !is_keyword(text) && !is(line, i + 1, ".") && !is(line, i + 1, "[")) {
      names.emplace(text);
    } else if (text != "(" && text != ")" && text != "," && text != "*") {
      return trouble(line, "what is assigned to is no name", "assign to names");
    }
  }
  if (names.empty()) return trouble(line, "what is assigned to is no name", "assign to names");
  return names;
}

Result<PythonText::Effects> PythonText::simple(const PythonLine& line) const {
  Effects all;
  int depth = 0;
  const auto add = [&](Effects more) {
    for (const std::string& name : more.reads)
      if (!all.writes.contains(name)) all.reads.insert(name);
    all.writes.insert(more.writes.begin(), more.writes.end());
  };
  for (std::size_t begin = 0; begin < line.tokens.size();) {
    // One of several statements of a line, and the places of its "=".
    std::size_t end = begin;
    std::vector<std::size_t> equals;
    std::size_t augmented = 0, colon = 0;
    for (; end < line.tokens.size(); ++end) {
      const std::string_view text = word(line.tokens[end]);
      if (opens(text)) ++depth;
      if (closes(text)) --depth;
      if (depth != 0 || line.tokens[end].kind != PythonToken::Kind::Sign) continue;
      if (text == ";") break;
      if (text == "=") equals.push_back(end);
      if (augments(text)) augmented = end;
      if (text == ":" && equals.empty()) colon = end;
    }
    const std::string_view head = word(line.tokens[begin]);
    if (is_keyword(head) && head != "assert" && head != "pass" && head != "not" && head != "None" && head != "True" && head != "False")
      return trouble(line, fmt::format("'{}' in the loop", head), "the loop has to be assignments and calls, and 'if' over them");
    Effects effects;
    std::size_t from = begin;
    if (augmented && equals.empty()) {
      const Result<std::set<std::string>> names = targets(line, begin, augmented);
      if (!names) return names.error();
      effects.reads = effects.writes = *names;
      from = augmented + 1;
    } else if (!equals.empty()) {
      for (const std::size_t equal : equals) {
        const Result<std::set<std::string>> names = targets(line, from, colon && colon < equal ? colon : equal);
        if (!names) return names.error();
        effects.writes.insert(names->begin(), names->end());
        from = equal + 1;
      }
    } else if (colon) {
      return trouble(line, "a block in the line of its head", "write it in lines of its own");
    }
    const Result<Effects> read = expression(line, from, end);
    if (!read) return read.error();
    effects.reads.insert(read->reads.begin(), read->reads.end());
    add(std::move(effects));
    begin = end + 1;
  }
  return all;
}

Result<PythonText::Effects> PythonText::choice(std::size_t& at, std::size_t end, int depth) const {
  Effects effects;
  bool otherwise = false;
  std::vector<std::set<std::string>> branches;
  const std::string indent = lines_[at].indent;
  for (bool first = true; at < end && lines_[at].indent == indent; first = false) {
    const PythonLine& head = lines_[at];
    if (first ? !is(head, 0, "if") : !is(head, 0, "elif") && !is(head, 0, "else")) break;
    if (!is(head, head.tokens.size() - 1, ":")) return trouble(head, "a block in the line of its head", "write it in lines of its own");
    otherwise = is(head, 0, "else");
    const Result<Effects> asked = expression(head, 1, head.tokens.size() - 1);
    if (!asked) return asked.error();
    const std::size_t body_end = std::min(block_end(at), end);
    const Result<Effects> body = block(at + 1, body_end, depth + 1, nullptr);
    if (!body) return body.error();
    effects.reads.insert(asked->reads.begin(), asked->reads.end());
    effects.reads.insert(body->reads.begin(), body->reads.end());
    effects.writes.insert(body->writes.begin(), body->writes.end());
    branches.push_back(body->writes);
    at = body_end;
    if (otherwise) break;
  }
  // What one branch leaves alone keeps its value.
  for (const std::string& name : effects.writes)
    if (!otherwise || std::any_of(branches.begin(), branches.end(), [&](const auto& branch) { return !branch.contains(name); }))
      effects.reads.insert(name);
  return effects;
}

Result<PythonText::Effects> PythonText::block(std::size_t begin, std::size_t end, int depth, std::vector<PythonStatement>* found) const {
  Effects all;
  if (begin >= end) return all;
  if (depth > kDeepestBlock) return trouble(lines_[begin], fmt::format("blocks in blocks, more than {} deep", kDeepestBlock));
  const std::string& indent = lines_[begin].indent;
  for (std::size_t at = begin; at < end;) {
    const PythonLine& line = lines_[at];
    if (line.indent != indent) return trouble(line, "its indentation fits no block", "indent with blanks or with tabs, not with both");
    const std::size_t first = at;
    Effects effects;
    if (is(line, 0, "if")) {
      Result<Effects> read = choice(at, end, depth);
      if (!read) return read.error();
      effects = *std::move(read);
    } else {
      Result<Effects> read = simple(line);
      if (!read) return read.error();
      effects = *std::move(read);
      ++at;
    }
    for (const std::string& name : effects.reads)
      if (!all.writes.contains(name)) all.reads.insert(name);
    all.writes.insert(effects.writes.begin(), effects.writes.end());
    if (found) found->push_back({line.first, lines_[at - 1].last, first, at, std::move(effects.reads), std::move(effects.writes)});
  }
  return all;
}

Result<std::vector<PythonStatement>> PythonText::statements(std::size_t begin, std::size_t end) const {
  std::vector<PythonStatement> found;
  const Result<Effects> effects = block(begin, end, 0, &found);
  if (!effects) return effects.error();
  return found;
}

/// The line of `def`; 0 where there is none. `heads`: those of the blocks around the line.
std::size_t PythonText::function_around(std::size_t line, std::set<std::size_t>* heads) const {
  for (std::size_t inner = line, i = line; i-- > 0;) {
    if (lines_[inner].indent.size() <= lines_[i].indent.size()) continue;
    inner = i;
    if (heads) heads->insert(i);
    if (is(lines_[i], 0, "def") || is(lines_[i], 0, "async")) return i;
  }
  return 0;
}

bool PythonText::decorated(std::size_t line, std::string_view name) const {
  for (std::size_t i = function_around(line, nullptr); i-- > 0 && is(lines_[i], 0, "@");)
    for (const PythonToken& token : lines_[i].tokens)
      if (word(token) == name) return true;
  return false;
}

std::set<std::string> PythonText::known_before(std::size_t line) const {
  const auto deeper = [](const PythonLine& one, const PythonLine& other) { return one.indent.size() > other.indent.size(); };
  std::set<std::size_t> around;
  const std::size_t begin = function_around(line, &around);
  std::set<std::string> names;
  struct Head {
    std::size_t line;
    bool over;  ///< a loop that has ended before: Triton keeps its names to itself
  };
  std::vector<Head> heads;
  for (std::size_t i = begin; i < line; ++i) {
    while (!heads.empty() && !deeper(lines_[i], lines_[heads.back().line])) heads.pop_back();
    const bool over = !heads.empty() && heads.back().over;
    const bool loop = is(lines_[i], 0, "for") || is(lines_[i], 0, "while");
    if (around.contains(i) && (is(lines_[i], 0, "def") || is(lines_[i], 0, "async")))
      for (std::size_t k = 1; k < lines_[i].tokens.size(); ++k)
        if (lines_[i].tokens[k].kind == PythonToken::Kind::Name &&
            (is(lines_[i], k - 1, "(") || is(lines_[i], k - 1, ",") || is(lines_[i], k - 1, "*")))
          names.emplace(word(lines_[i].tokens[k]));
    if (loop && around.contains(i))
      for (std::size_t k = 1; k < lines_[i].tokens.size() && !is(lines_[i], k, "in"); ++k)
        if (lines_[i].tokens[k].kind == PythonToken::Kind::Name) names.emplace(word(lines_[i].tokens[k]));
    if (!over && !is_keyword(word(lines_[i].tokens[0])))
      if (const Result<Effects> effects = simple(lines_[i])) names.insert(effects->writes.begin(), effects->writes.end());
    heads.push_back({i, over || (loop && !around.contains(i))});
  }
  return names;
}

}  // namespace heddle::triton
