#include "codegen/emit/size_formula.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/scanner.h"

namespace heddle::codegen {
namespace {

struct Formula {
  const Scope& params;
  const std::map<std::string, std::string>& texts;
  std::vector<std::string> names = {};

  std::optional<std::string> of(const Expr::Node& node) const {
    if (!mentions(node, names)) {
      const auto number = evaluate_node(node, params);
      if (!number.ok()) return std::nullopt;
      return *number < 0 ? fmt::format("({})", *number) : fmt::format("{}", *number);
    }
    if (node.op == Operator::Name) return texts.at(node.name);
    std::vector<std::string> parts;
    if (node.children.empty()) return std::nullopt;
    for (const Expr::Node& child : node.children) {
      auto part = of(child);
      if (!part) return std::nullopt;
      parts.push_back(*std::move(part));
    }
    // Kernel files divide towards minus infinity, C towards zero.
    const bool may_be_negative = node.children[0].op == Operator::Subtract || node.children[0].op == Operator::Negate;
    if (may_be_negative && (node.op == Operator::Divide || node.op == Operator::Modulo)) {
      const std::string rest = fmt::format("((({0} % {1}) + {1}) % {1})", parts[0], parts[1]);
      return node.op == Operator::Modulo ? rest : fmt::format("(({} - {}) / {})", parts[0], rest, parts[1]);
    }
    if (const char* sign = sign_of(node.op)) return fmt::format("({} {} {})", parts[0], sign, parts[1]);
    switch (node.op) {
      case Operator::Divide: return fmt::format("({} / {})", parts[0], parts[1]);
      case Operator::Modulo: return fmt::format("({} % {})", parts[0], parts[1]);
      case Operator::Negate: return fmt::format("(-{})", parts[0]);
      case Operator::CeilDiv: return fmt::format("ceil_div({}, {})", parts[0], parts[1]);
      case Operator::Min:
      case Operator::Max: return pairwise(node.op, parts);
      default: return std::nullopt;
    }
  }
};

}  // namespace

std::string size_name(const std::string& param) {
  static const std::set<std::string_view> macros{"NULL",      "EOF",       "DEVICE",   "NAN",   "INFINITY",
                                                 "INT32_MIN", "INT32_MAX", "RAND_MAX", "BUFSIZ"};
  const bool capitals = std::all_of(param.begin(), param.end(), [](char c) { return c == '_' || is_digit(c) || (c >= 'A' && c <= 'Z'); });
  std::string name;
  for (const char c : param) name += in_name(c) ? c : '_';
  return capitals && !macros.contains(param) ? name : name + "_";
}

std::optional<std::string> size_formula(const Expr& expr, const Scope& params, const std::map<std::string, std::string>& texts) {
  Formula formula{params, texts};
  for (const auto& [name, text] : texts) formula.names.push_back(name);
  return formula.of(expr.root());
}

}  // namespace heddle::codegen
