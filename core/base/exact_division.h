// Whether an expression drops a remainder: trips = K / TILE_K does unless TILE_K divides K.
#pragma once

#include "core/base/expr.h"

namespace heddle {

/// No "/" that takes part in the value leaves a remainder (ceil_div and % are meant to). False where it cannot be evaluated.
bool divides_exactly(const Expr& expr, const Scope& scope);

}  // namespace heddle
