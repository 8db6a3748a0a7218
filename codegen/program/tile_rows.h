// Tiles in registers with more rows than a warpgroup holds, and the cut that makes them fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/kernel/kernel.h"
#include "core/kernel/subtile.h"

namespace heddle::codegen {

struct WideTile {
  std::string value;
  std::int64_t rows = 0, most = 0;  ///< that it has; that a warpgroup holds
  std::optional<Subtile> cut;       ///< none: its rows are no parameter, or no multiple of what a warpgroup holds
};

/// The first such tile of a kernel with products; nothing where all fit. Pre: `params` holds every parameter.
std::optional<WideTile> wide_tile(const Kernel& kernel, const Scope& params, bool blackwell);

/// "'c' has 256 rows in registers; a warpgroup holds 64: cut BM into 4 parts"
std::string sentence_of(const WideTile& tile);

}  // namespace heddle::codegen
