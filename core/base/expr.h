// Integer expressions in kernel and machine files: sizes, coordinates, cost formulas.
//
// Grammar: integers, names ([A-Za-z_][A-Za-z0-9_]*), unary minus, + - * / %, comparisons (< <= > >= == !=, giving 0 or
// 1), parentheses, the functions min(a,b,...), max(a,b,...), ceil_div(a,b), cbrt(a), if(cond,a,b), and look-ups in index tensors,
// rowptr[b + 1] or pages[sequence, i]. Division, % and the cube root round towards minus infinity. All arithmetic is exact in 64 bits;
// overflow, division by zero and look-ups outside of a tensor are errors, never wrapped. `if` evaluates only the branch that it takes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heddle {

/// Contents of an index tensor, row by row.
struct IndexTable {
  std::vector<std::int64_t> shape;
  std::shared_ptr<const std::vector<std::int32_t>> values;  ///< never null
};
using IndexTables = std::map<std::string, IndexTable, std::less<>>;

/// Names visible to an expression, and the index tensors that it may look up.
struct Scope : std::map<std::string, std::int64_t, std::less<>> {
  using map::map;
  std::shared_ptr<const IndexTables> tables;  ///< null: none
};

class Expr {
 public:
  Expr() : Expr(0) {}
  explicit Expr(std::int64_t constant);
  struct Node;
  /// Of a tree (core/base/expr_node.h). Its text is the tree written down, and reads back as that tree.
  explicit Expr(Node root);
  /// A name of the grammar.
  static Expr named(std::string name);

  /// Errors carry a message with the column; nesting deeper than 200 or text longer than 4096 characters is refused.
  static Result<Expr> parse(std::string_view text);

  Result<std::int64_t> evaluate(const Scope& scope) const;

  /// The text as it was written (a constant prints as its digits).
  const std::string& text() const { return text_; }
  /// Set when the expression is a plain integer.
  bool is_constant() const;
  /// Written as a plain 0.
  bool is_zero() const { return text_ == "0"; }
  /// Every name used, sorted, without repeats; those of index tensors are apart.
  std::vector<std::string> names() const;
  /// Every index tensor that is looked up, sorted, without repeats.
  std::vector<std::string> tables() const;

  /// constant + sum of coefficient * variable.
  struct Affine {
    std::int64_t constant = 0;
    std::vector<std::int64_t> coefficients;  ///< of each variable
  };
  /// The expression as such a sum over `variables`, which hide names of the scope. Nothing where it is none as it is written: quotients and
  /// remainders are where what they divide is a multiple up to a constant, and nothing else mixes variables. Nothing either where the scope
  /// lacks a name, or a number is 2^31 or more.
  std::optional<Affine> affine(const Scope& scope, const std::vector<std::string>& variables) const;

  /// A number that divides every value, whatever the variables are, which hide names of the scope; 0: every value is 0. Nothing larger
  /// is looked for where 1 is returned.
  std::int64_t divisor(const Scope& scope, const std::vector<std::string>& variables) const;

  const Node& root() const { return *root_; }  ///< core/base/expr_node.h

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

/// An expression made ready for many values of a few variables: names of the scope are numbers, look-ups go straight to their tables.
/// Pre: the scope's tables outlive it.
class BoundExpr {
 public:
  BoundExpr() = default;
  BoundExpr(const Expr& expr, const Scope& scope, const std::vector<std::string>& variables);

  /// Nothing where evaluate() would report an error; that one says which.
  std::optional<std::int64_t> evaluate(std::span<const std::int64_t> variables) const;

 private:
  struct Step;
  std::int64_t value(std::size_t step, std::span<const std::int64_t> variables, bool& fine) const;

  std::shared_ptr<const std::vector<Step>> steps_;
  std::size_t root_ = 0;
};

/// No "/" that takes part in the value leaves a remainder (ceil_div and % are meant to): trips = K / TILE_K does unless TILE_K
/// divides K. False where it cannot be evaluated.
bool divides_exactly(const Expr& expr, const Scope& scope);

}  // namespace heddle
