#include "codegen/package/c_text.h"

#include <set>

#include "codegen/emit/names.h"
#include "core/base/scanner.h"

namespace heddle::codegen {

std::string c_name(std::string_view name) {
  static const std::set<std::string_view> keywords{
      "alignas",  "alignof",  "and",       "asm",       "auto",     "bool",      "break",    "case",     "catch",  "char",
      "class",    "const",    "constexpr", "continue",  "decltype", "default",   "delete",   "do",       "double", "else",
      "enum",     "explicit", "export",    "extern",    "false",    "float",     "for",      "friend",   "goto",   "if",
      "inline",   "int",      "int64_t",   "long",      "mutable",  "namespace", "new",      "noexcept", "not",    "nullptr",
      "operator", "or",       "private",   "protected", "public",   "register",  "restrict", "return",   "short",  "signed",
      "sizeof",   "static",   "struct",    "switch",    "template", "this",      "throw",    "true",     "try",    "typedef",
      "typeid",   "typename", "union",     "unsigned",  "using",    "virtual",   "void",     "volatile", "while",  "xor"};
  std::string safe;
  for (const char c : name) safe += in_name(c) ? c : '_';
  if (safe.empty() || is_digit(safe[0])) safe.insert(0, "_");
  return keywords.contains(safe) ? safe + "_" : safe;
}

std::string c_comment(std::string_view text) {
  std::string safe;
  for (const char c : comment_text(text)) {
    if (c == '/' && !safe.empty() && safe.back() == '*') safe += ' ';
    safe += c;
    if (safe.ends_with("/*")) safe.insert(safe.size() - 1, " ");
  }
  return safe;
}

std::string c_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '?') quoted += '\\';  // "??" may begin a trigraph
    quoted += c >= ' ' && c <= '~' ? c : '_';
  }
  return quoted + "\"";
}

bool has_word(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end]))) return true;
  }
  return false;
}

}  // namespace heddle::codegen
