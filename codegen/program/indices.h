// What coordinates of tiles are functions of: the grid's indices, then the loop's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/expr.h"
#include "core/kernel/kernel.h"

namespace heddle::codegen {

using Affine = Expr::Affine;

struct Indices {
  std::vector<std::string> names;
  std::vector<std::int64_t> counts;  ///< each goes from 0 to this, less 1
};

/// Along every dimension there are whole clusters of blocks: the last may reach beyond the grid. Pre: `params` holds every parameter.
Indices indices_of(const Kernel& kernel, const Scope& params, std::int64_t trips, std::int64_t cluster = 1);

/// The smallest and the largest value.
std::pair<std::int64_t, std::int64_t> range_of(const Affine& affine, const std::vector<std::int64_t>& counts);

}  // namespace heddle::codegen
