// Where the elements of a tile lie, as bases over GF(2): bit i of a thread's register, lane or warp number moves the element by basis i.
// Positions are flat: the bits of dimension 0 are the lowest, those of dimension 1 stand above them, and so on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/triton/read/type.h"

namespace heddle::triton {

struct Linear {
  std::vector<std::uint32_t> registers, lanes, warps, blocks;
  std::vector<int> bits;  ///< of each dimension
  int total() const;
  /// First bit of a dimension in a flat position.
  int offset(std::size_t dimension) const;
};

/// Nothing where the layout is not understood or the shape is no power of two.
std::optional<Linear> linear_of(const Type& type);
std::optional<Linear> linear_of(const std::vector<std::int64_t>& shape, const TritonLayout& layout);

/// The same without registers that hold what an earlier one holds.
Linear without_copies(Linear linear);

/// Whether moving elements from one layout to the other crosses no warp, so that registers and shuffles do. Two shuffles or more for an
/// element go through shared memory too.
bool within_warps(const Linear& from, const Linear& to);

/// What a tile takes of tensor memory.
struct TensorSize {
  std::int64_t columns = 0;
  std::int64_t rows = 128;  ///< 64: a half of the lanes; two such tiles can share columns
};
TensorSize tensor_size(const Type& type);

}  // namespace heddle::triton
