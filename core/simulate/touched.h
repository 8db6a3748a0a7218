// What a kernel reads of a tensor whose places are looked up: not all of it, and some of it more than once.
#pragma once

#include <cstdint>
#include <optional>

#include "core/kernel/kernel.h"
#include "core/simulate/tile_grid.h"

namespace heddle {

/// Elements of the tensor that lie in some box that the kernel moves, over all tiles and trips; boxes that overlap in part count as two.
/// Nothing where no place of the tensor is looked up, or where there are too many boxes to list. Pre: `params` has the index tensors.
std::optional<std::int64_t> touched_elements(const Kernel& kernel, const Scope& params, const TileGrid& grid, const Tensor& tensor);

}  // namespace heddle
