// A formula over whole tensors, as a kernel file may write it in place of a name: "C = gelu(A @ B + Bias)". Evaluated in double
// precision, without any of the interpreter's functions: it is the other half of a comparison.
//
//   C = relu(A @ B * column(RowScale) + Bias) + Residual
//   S = Q @ transpose(repeat(K, GROUP)) / sqrt(128); O = softmax(causal(S)) @ repeat(V, GROUP)
//
// Statements are separated by ";". A name is a tensor, a parameter, an argument (core/kernel/scalars.h), or what an earlier statement
// defined. Operators: + - * / and @, the product of matrices (leading dimensions run in parallel). Shapes are lined up at their last
// dimension, and an extent of 1 is repeated: a vector has one element for every column; column(v) has one for every row.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"
#include "core/kernel/reference.h"

namespace heddle {

/// Is what a kernel's `reference` says a formula, and not the name of one?
bool is_formula(std::string_view reference);

class Formula {
 public:
  /// Faults, with the column: what cannot be read, names that the kernel does not have, outputs without a statement.
  static Result<Formula> parse(std::string_view text, const Kernel& kernel);

  /// What every output should be; or why the shapes do not fit. Once `stop` is requested it returns soon, and what it has found is
  /// incomplete.
  std::string compute(const TensorMap& tensors, const FormulaNumbers& numbers, const std::stop_token& stop,
                      std::vector<ExpectedTensor>& expected) const;

  struct Node {
    std::string what;  ///< operator, function, name or number
    enum class Kind { Number, Name, Call } kind = Kind::Number;
    double number = 0;
    std::vector<std::size_t> of;  ///< operands, in nodes_
  };

 private:
  struct Statement {
    std::string name;
    std::size_t node = 0;
  };
  std::vector<Node> nodes_;
  std::vector<Statement> statements_;
  bool rounds_inside_ = false;  ///< the kernel computes on with numbers that it has rounded to 16 bits or less
};

/// Every function with its sentence, for messages and documentation.
struct FormulaFunction {
  const char* name;
  int operands;
  const char* about;
};
std::vector<FormulaFunction> formula_functions();

}  // namespace heddle
