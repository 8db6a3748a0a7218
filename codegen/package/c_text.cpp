#include "codegen/package/c_text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/base/expr_node.h"
#include "core/base/scanner.h"

namespace heddle::codegen {
namespace {

const char* sign_of(Operator op) {
  switch (op) {
    case Operator::Add: return "+";
    case Operator::Subtract: return "-";
    case Operator::Multiply: return "*";
    case Operator::Divide: return "/";
    case Operator::Modulo: return "%";
    case Operator::Less: return "<";
    case Operator::LessEqual: return "<=";
    case Operator::Greater: return ">";
    case Operator::GreaterEqual: return ">=";
    case Operator::Equal: return "==";
    case Operator::NotEqual: return "!=";
    default: return nullptr;
  }
}

std::optional<std::string> text_of(const Expr::Node& node, const Scope& scope, const std::vector<std::string>& variables) {
  if (!mentions(node, variables)) {
    const auto value = evaluate_node(node, scope);
    return value.ok() ? std::optional(std::to_string(*value)) : std::nullopt;
  }
  if (node.op == Operator::Name) return node.name;
  std::vector<std::string> of;
  for (const Expr::Node& child : node.children) {
    auto text = text_of(child, scope, variables);
    if (!text) return std::nullopt;
    of.push_back(*std::move(text));
  }
  if (const char* sign = sign_of(node.op)) return fmt::format("({} {} {})", of[0], sign, of[1]);
  switch (node.op) {
    case Operator::Negate: return fmt::format("(-{})", of[0]);
    case Operator::CeilDiv: return fmt::format("ceil_div({}, {})", of[0], of[1]);
    case Operator::If: return fmt::format("({} ? {} : {})", of[0], of[1], of[2]);
    case Operator::Min:
    case Operator::Max: {
      std::string text = of[0];
      for (std::size_t k = 1; k < of.size(); ++k) text = fmt::format("{}({}, {})", node.op == Operator::Min ? "min" : "max", text, of[k]);
      return text;
    }
    default: return std::nullopt;
  }
}

}  // namespace

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
  for (const char c : text) {
    if (c == '/' && !safe.empty() && safe.back() == '*') safe += ' ';
    safe += c >= ' ' && c <= '~' && c != '\\' ? c : '_';
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

std::optional<std::string> c_formula(const Expr& expr, const Scope& scope, const std::vector<std::string>& variables) {
  auto text = text_of(expr.root(), scope, variables);
  // Outer parentheses are of no use where the whole stands between commas.
  if (text && text->starts_with('(') && text->ends_with(')')) {
    int open = 0;
    for (std::size_t k = 0; k + 1 < text->size(); ++k)
      if ((open += (*text)[k] == '(' ? 1 : (*text)[k] == ')' ? -1 : 0) == 0) return text;
    text = text->substr(1, text->size() - 2);
  }
  return text;
}

bool has_word(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end]))) return true;
  }
  return false;
}

}  // namespace heddle::codegen
