// Axes of tiles whose order no result depends on: the keys of an attention's step, over which a softmax is taken and a product sums. A
// kernel says which (`free`), and this follows each through its ops.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/expr.h"
#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle {

/// Dimension `dimension` of a value.
struct TileAxis {
  std::string value;
  std::size_t dimension = 0;
  auto operator<=>(const TileAxis&) const = default;
};

struct AxisWalk {
  std::vector<TileAxis> along;  ///< all that lie along the axis, the one that the kernel names first
  std::string objection;  ///< why its order matters: "'mask0' (mask) takes an element for what stands at its place"; empty: it does not
};

/// `params` holds every parameter. Pre: the ops have the operands that their kinds take; values without a shape are not followed.
AxisWalk walk_axis(const Kernel& kernel, const Scope& params, const FreeAxis& axis);

/// Axes that do not exist, have a name twice, or are not free; at "/free/0".
std::vector<Fault> validate_free_axes(const Kernel& kernel);

}  // namespace heddle
