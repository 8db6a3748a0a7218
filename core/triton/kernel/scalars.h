// Scalars and index tiles of a Triton kernel as expressions of Heddle's kernels: sizes become parameters, program ids grid variables, the
// loop's counter its variable. What depends on data becomes a parameter too, with a note.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expr_node.h"
#include "core/kernel/kernel.h"
#include "core/triton/read/flow.h"

namespace heddle::triton {

// Integer expressions, folded where both sides are numbers.
Expr add(const Expr& a, const Expr& b);
Expr subtract(const Expr& a, const Expr& b);
Expr multiply(const Expr& a, const Expr& b);
/// Rounded down; the ways in which programs round up are a ceil_div.
Expr divide(const Expr& a, const Expr& b);
/// As it is.
Expr combine(Operator op, const std::vector<Expr>& of);

/// An expression of the kernel out of names that kernels have; 0 for what cannot be read.
Expr expr_of(const std::string& text);
/// A name as kernels have them: letters, digits and _, no digit first.
std::string kernel_name(std::string name);

/// base + sum over dimensions of stride * index.
struct Affine {
  Expr base;
  std::vector<Expr> strides;
  mlir::ValueId pointer{};  ///< of pointer tiles: the argument that they point into
  bool wraps = false;       ///< a remainder was taken as the number itself: right for addresses inside a tensor, not for a mask
};

/// The iterations of the loop.
struct Trips {
  Expr of_tile{1};  ///< of the block's indices too
  Expr most{1};     ///< of the block that runs longest
};

class Scalars {
 public:
  explicit Scalars(const Flow& flow) : flow_(flow) {}

  /// The integer as an expression. Always one: what cannot be followed is a parameter of its own.
  Expr expr(mlir::ValueId value) { return compute(value, 0); }
  std::string text(mlir::ValueId value) { return expr(value).text(); }
  /// Nothing where the tile is no affine function of its coordinates.
  std::optional<Affine> affine(mlir::ValueId value);
  /// The number that a scalar or a constant tile has; nothing where the text does not say. Scalar arguments of floating point are taken as
  /// kUnknownNumber, with a note.
  std::optional<std::string> number(mlir::ValueId value);

  static constexpr const char* kUnknownNumber = "0.125";
  static constexpr const char* kLoopVariable = "i";

  const std::vector<Param>& params() const { return params_; }
  const std::vector<GridDim>& grid() const { return grid_; }
  const std::vector<std::string>& notes() const { return notes_; }
  void note(const std::string& sentence);
  /// A parameter of this name and default, unless there is one; its name as it stands in expressions.
  std::string param(const std::string& name, std::int64_t value, std::int64_t eval_value, const std::string& about);
  /// Names that nothing else may take.
  std::string fresh(const std::string& name);
  Trips trips();

 private:
  std::int64_t set_most(Trips& trips, bool evaluation = false) const;
  void give_trips(Trips& trips);
  Expr compute(mlir::ValueId value, int depth);
  std::optional<Affine> compute_affine(mlir::ValueId value, int depth);
  std::optional<Affine> affine_pointer(mlir::ValueId value, int depth);
  std::optional<Affine> affine_argument(mlir::ValueId value, int depth);
  std::optional<Affine> affine_result(mlir::ValueId value, int depth);
  std::optional<Affine> affine_arithmetic(const mlir::Op& op, std::string_view name, int depth);
  Expr unknown(mlir::ValueId value, const std::string& why);
  Expr block_index(char axis);
  Expr integer_constant(const mlir::Op& op);
  const mlir::Op* steady_step(mlir::ValueId id, const ValueSource& next, mlir::ValueId& by) const;

  const Flow& flow_;
  std::vector<Param> params_;
  std::vector<GridDim> grid_;
  std::vector<std::string> notes_;
  std::map<mlir::ValueId, Expr> exprs_;
  std::map<mlir::ValueId, std::optional<Affine>> affines_;
  std::map<mlir::ValueId, Expr> own_;  ///< parameters that stand for values
};

}  // namespace heddle::triton
