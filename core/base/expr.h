// Integer expressions in kernel and machine files: sizes, coordinates, cost formulas.
//
// Grammar: integers, names ([A-Za-z_][A-Za-z0-9_]*), unary minus, + - * / %, comparisons (< <= > >= == !=, giving 0 or
// 1), parentheses, and the functions min(a,b,...), max(a,b,...), ceil_div(a,b), cbrt(a), if(cond,a,b). Division, % and the
// cube root round towards minus infinity. All arithmetic is exact in 64 bits; overflow and division by zero are errors, never wrapped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heddle {

/// Names visible to an expression.
using Scope = std::map<std::string, std::int64_t, std::less<>>;

class Expr {
 public:
  Expr() : Expr(0) {}
  explicit Expr(std::int64_t constant);

  /// Errors carry a message with the column; nesting deeper than 200 or text longer than 4096 characters is refused.
  static Result<Expr> parse(std::string_view text);

  Result<std::int64_t> evaluate(const Scope& scope) const;

  /// The text as it was written (a constant prints as its digits).
  const std::string& text() const { return text_; }
  /// Set when the expression is a plain integer.
  bool is_constant() const;
  /// Written as a plain 0.
  bool is_zero() const { return text_ == "0"; }
  /// Every name used, sorted, without repeats.
  std::vector<std::string> names() const;

  /// constant + sum of coefficient * variable.
  struct Affine {
    std::int64_t constant = 0;
    std::vector<std::int64_t> coefficients;  ///< of each variable
  };
  /// The expression as such a sum over `variables`, which hide names of the scope. Nothing where it is none as it is written: quotients and
  /// remainders are where what they divide is a multiple up to a constant, and nothing else mixes variables. Nothing either where the scope
  /// lacks a name, or a number is 2^31 or more.
  std::optional<Affine> affine(const Scope& scope, const std::vector<std::string>& variables) const;

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

/// No "/" that takes part in the value leaves a remainder (ceil_div and % are meant to): trips = K / TILE_K does unless TILE_K
/// divides K. False where it cannot be evaluated.
bool divides_exactly(const Expr& expr, const Scope& scope);

}  // namespace heddle
