// What an expression is made of, for those who write it in another language (codegen/emit) or make one (core/triton/kernel).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expr.h"

namespace heddle {

enum class Operator {
  Constant,
  Name,
  LookUp,  ///< of the index tensor `name`, children are the subscripts
  Negate,
  Add,
  Subtract,
  Multiply,
  Divide,
  Modulo,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  Min,
  Max,
  CeilDiv,
  CubeRoot,
  If
};

struct Expr::Node {
  Operator op = Operator::Constant;
  std::int64_t constant = 0;
  std::string name;
  std::vector<Node> children;
};

/// The comparison that "<=" and its like stand for.
std::optional<Operator> comparison_of(std::string_view sign);

/// "+" or "<=", as C and Python have them too. Null for divisions, which languages round otherwise, and for functions.
const char* sign_of(Operator op);
/// Min or Max of two operands at a time: "min(min(a, b), c)".
std::string pairwise(Operator op, const std::vector<std::string>& operands);

/// Of two operands, and of one (Negate, CubeRoot, and functions of any number of operands).
Result<std::int64_t> apply(Operator op, std::int64_t a, std::int64_t b);
Result<std::int64_t> apply(Operator op, std::int64_t a);
Result<std::int64_t> evaluate_node(const Expr::Node& node, const Scope& scope);
/// As Expr::affine.
std::optional<Expr::Affine> affine_node(const Expr::Node& node, const Scope& scope, const std::vector<std::string>& variables);
/// It names one of them anywhere.
bool mentions(const Expr::Node& node, const std::vector<std::string>& variables);

}  // namespace heddle
