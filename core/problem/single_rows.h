// Stores that leave rows behind an end as they are (attribute `before`): a tile that lies before it goes as a whole, of one that reaches
// beyond it every row goes by itself (codegen/emit/tma.cpp).
#pragma once

#include <cstdint>

#include "core/base/expr.h"
#include "core/kernel/kernel.h"

namespace heddle {

/// How many rows of a tile of the op go by themselves, in thousandths, in the mean over the grid, of which some thousand blocks are looked
/// at; in the loop, in its first iteration. `params` have index tables. 0: the op is no such store, or its place cannot be computed.
std::int64_t single_rows(const Kernel& kernel, const TileOp& op, const Scope& params);

}  // namespace heddle
