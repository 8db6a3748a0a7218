// The expression of a `map` op: what a fused chain of element functions computes, for the evaluator, for the cost rule and for
// the emitted text alike.
//
//   x0 * sigmoid(x0) * x1                      max(x0, x1)                     bf16(x0 * 0.125)
//   t = x0 * x1; t + t * t                     select(at1 + col <= at0 + row, x0, -inf)
//
// Names: x0 to x7, the op's inputs; row and col, the element's place in the tile (of a vector: row); at0 to at7, the op's `at`;
// inf; decimal numbers. Operators: + - * /, unary minus, < <= > >= == != (1 or 0), parentheses. Functions: map_functions().
// Before the last expression, parts that are needed more than once may be given names: "t = ...;". Equal parts are computed and
// counted once. Numbers without a point, coordinates, and sums, products, comparisons and choices of them alone are whole numbers
// of 64 bits; all else is float.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle {

enum class MapFunction {
  Input,
  Number,
  Row,
  Column,
  At,  // no operand
  Add,
  Sub,
  Mul,
  Div,
  Negate,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  Max,
  Min,
  Fma,
  Select,
  Pow,
  Exp2,
  Exp,
  Log2,
  Log,
  Rsqrt,
  Sqrt,
  Recip,
  Abs,
  Floor,
  Ceil,
  Sin,
  Cos,
  Tanh,
  Erf,
  Sigmoid,
  Bf16,
  F16,
  E4m3,
  E5m2,  // rounded to the type
  BitAnd,
  BitOr,
  BitXor,
  ShiftLeft,
  ShiftRight,  // of signed numbers
  Wrap,        // the lowest bits of a number, as a signed number of so many bits
};

struct MapNode {
  MapFunction function = MapFunction::Number;
  std::array<std::size_t, 3> of{};  ///< operands, earlier in the list
  std::size_t operands = 0;
  std::size_t input = 0;          ///< Input, At: which one
  float number = 0;               ///< Number
  std::int64_t whole_number = 0;  ///< Number that is whole
  bool whole = false;             ///< computed in whole numbers
  bool constant = false;          ///< the same for every element and every call
};

class MapExpression {
 public:
  static constexpr std::size_t kMostInputs = 8, kMostPlaces = 8, kLongest = 8192, kMostNodes = 1024;
  static constexpr int kDeepest = 200;  ///< parentheses, calls and signs inside each other

  /// Faults name the column. Too long, too deep, unknown names, inputs that there are not (x3 of 2).
  static Result<MapExpression> parse(std::string_view text, std::size_t inputs);

  /// One element. `x` has as many numbers as inputs were given to parse(), `at` at least places() of them.
  float evaluate(std::span<const float> x, std::int64_t row, std::int64_t col, std::span<const std::int64_t> at = {}) const;

  /// Instructions per element on each unit, as a compiler would need them: fma: + - * and fma (a product that is only added to
  /// something costs nothing); alu: max, min, comparisons, select, abs, floor, ceil, rounding to a type, products of coordinates,
  /// bit functions and sums of their results;
  /// mufu: exp2, exp, log2, log, sqrt, rsqrt, recip, division, tanh, sin, cos: 1, sigmoid 2. exp, log and division take an fma more
  /// (no mufu by a constant, no fma below 1), sigmoid 2, sin and cos 3 and an alu. Estimates: erf 12 fma, 4 alu, 1 mufu; pow 8 fma,
  /// 4 alu, 2 mufu. What is made of constants and of `at` alone, sums of coordinates and minus signs are free. Never nothing at all:
  /// a mere copy is an fma.
  struct Counts {
    std::int64_t fma = 0, alu = 0, mufu = 0;
    bool operator==(const Counts&) const = default;
  };
  Counts counts() const;

  /// Every node after its operands; the last is the result.
  std::span<const MapNode> nodes() const { return nodes_; }
  bool uses(MapFunction function) const;
  bool uses_input(std::size_t input) const;
  bool uses_place(std::size_t place) const;
  bool uses_coordinates() const { return uses(MapFunction::Row) || uses(MapFunction::Column); }
  /// How many numbers of `at` it needs: one more than the last that it names.
  std::size_t places() const;

 private:
  std::vector<MapNode> nodes_;
};

/// `text` with every use of the coordinate `name` ("row" or "col") moved on by `offset`: "(row + 64)".
std::string moved_map_expression(std::string_view text, std::string_view name, const std::string& offset);

/// The op's attributes `fma`, `alu` and `mufu`; those that it does not give are counted in its expression.
MapExpression::Counts map_counts(const TileOp& op);

/// Every function with its operands, for messages and documentation.
struct MapFunctionName {
  const char* name;
  MapFunction function;
  std::size_t operands;
};
std::span<const MapFunctionName> map_functions();

}  // namespace heddle
