// The size of a tile once its shape is plain numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "core/kernel/kernel.h"
#include "core/problem/fault_log.h"

namespace heddle {

struct Tile {
  Space space = Space::Register;
  int bits = 32;          ///< per element
  std::int64_t rows = 1;  ///< product of all extents but the last; a vector is a column
  std::int64_t cols = 1;
  std::int64_t elems = 1;
  std::int64_t bytes = 4;
  std::int64_t columns = 1;  ///< of tensor memory: 128 lanes of 32 bits each
};

/// Evaluates the shape. Faults (at "/values/<index>/shape"): extents below 1 or absurd, more than 2^31 bytes.
std::optional<Tile> measure(const TileValue& value, const Scope& params, const Place& place, FaultLog& faults);

/// Registers per thread of a tile spread evenly over `threads`, at least 1.
std::int64_t registers_per_thread(const Tile& tile, std::int64_t threads);

/// M, N and K of D[M,N] = A[M,K] B[K,N].
struct MmaShape {
  std::int64_t m = 0, n = 0, k = 0;
};

/// Faults when operands or result do not fit each other. Operands are given as stored: transposed ones as [K,M] and
/// [N,K].
std::optional<MmaShape> mma_shape(const TileOp& op, const std::vector<const Tile*>& inputs,
                                  const std::vector<const Tile*>& outputs, const Place& place, FaultLog& faults);

}  // namespace heddle
