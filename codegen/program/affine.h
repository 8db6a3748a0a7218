// Coordinates as sums of multiples of the grid's and the loop's indices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expr.h"

namespace heddle::codegen {

/// constant + sum of coefficient * variable.
struct Affine {
  std::int64_t constant = 0;
  std::vector<std::int64_t> coefficients;
};

/// An expression as an affine function of `variables`; nothing when it is none (found by evaluating it here and there).
std::optional<Affine> affine_of(const Expr& expr, const Scope& params, const std::vector<std::string>& variables);

}  // namespace heddle::codegen
