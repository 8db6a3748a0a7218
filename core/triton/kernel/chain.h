// A fused chain of elementwise ops as one expression over its inputs, and the native kind that says the same where there is one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/triton/kernel/scalars.h"
#include "core/triton/read/flow.h"

namespace heddle::triton {

/// A tile that the chain reads.
struct ChainInput {
  ValueSource source;  ///< an op of the loop, or a value outside of it
  char lay = 'f';      ///< how it lies over the result: f the same shape, r an element per row, c one per column, 1 a single number
  bool operator==(const ChainInput& other) const {
    return source.value == other.source.value && source.op == other.source.op && source.distance == other.source.distance &&
           lay == other.lay;
  }
};

struct Term {
  enum class Kind { Input, Number, Coordinates, Op };
  Kind kind = Kind::Number;
  std::size_t input = 0;  ///< Input: index into Chain::inputs
  std::string text;       ///< Number, Coordinates: as it stands in an expression; Op: over x0, x1 ..., of `of`
  std::vector<Term> of;
  bool before_loop = false;  ///< Coordinates: computed once, outside of the loop
};

struct Chain {
  Term term;
  std::vector<ChainInput> inputs;
  std::vector<Expr> at;  ///< what at0 and at1 stand for
  std::string fault;     ///< why there is no expression; empty: there is
};

/// Of the chain that ends in `last`; `members` are its ops. `row_vectors`: tiles of one dimension are rows of one (1-D kernels).
Chain build_chain(const Flow& flow, Scalars& scalars, mlir::OpId last, const std::vector<mlir::OpId>& members, bool row_vectors);

/// The expression as `map` takes it; `counted`: with a mere place for what is computed before the loop, to count instructions.
std::string expression_text(const Term& term, bool counted = false);

/// A kind of op_kind.h with its attributes, reading inputs in this order.
struct NativeOp {
  std::string kind;
  std::vector<std::size_t> inputs;  ///< of the chain
  std::map<std::string, Attr> attrs;
};
/// exp2, elementwise, convert, mask where one of them says it, else map. `narrowed`: the last op is a conversion.
NativeOp native_op(const Chain& chain);

/// "max(m, s * c)" of a reduction's result: the reduction then does it itself.
struct JoinedReduction {
  std::size_t old = 0;                ///< chain input: what the reduction is combined with
  std::optional<std::size_t> factor;  ///< chain input that multiplies the old value first; sums only
  std::string scale;                  ///< on the reduced elements; empty: 1. Maxima only: a positive factor
};
/// `reduced`: the chain input that is the reduction's result. Nothing where the chain says something else.
std::optional<JoinedReduction> joined_reduction(const Chain& chain, std::size_t reduced, bool maximum);

}  // namespace heddle::triton
