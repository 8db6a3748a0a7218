// Tiles in registers with more rows than a warpgroup holds, and the cut that makes them fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/kernel/kernel.h"
#include "core/kernel/subtile.h"
#include "core/problem/problem.h"

namespace heddle::codegen {

struct WideTile {
  std::string value;
  std::int64_t rows = 0, most = 0;  ///< that it has; that a warpgroup holds
  std::optional<Subtile> cut;       ///< none: its rows are no parameter, or no multiple of what a warpgroup holds
};

/// The first such tile of a kernel with products whose layout is not known otherwise; nothing where all fit. Pre: the problem is the
/// kernel's.
std::optional<WideTile> wide_tile(const Kernel& kernel, const Problem& problem);

/// "'c' has 256 rows in registers; a warpgroup holds 64: cut BM into 4 parts"
std::string sentence_of(const WideTile& tile);

}  // namespace heddle::codegen
