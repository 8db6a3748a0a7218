// Where Triton's allocators put pieces of shared memory and of tensor memory, given how long each is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::triton {

/// A stretch of a program, by positions of ops: from `begin` up to but not including `end`.
struct Life {
  std::int64_t begin = 0, end = 0;
  bool meets(const Life& other) const { return begin < other.end && other.begin < end; }
};

struct MemoryPiece {
  std::int64_t bytes = 0, alignment = 1;
  Life life;
  /// Pieces of different regions of one `ttg.warp_specialize` run at the same time whatever their positions say. -1: of none.
  int specialize = -1, region = -1;
  std::int64_t offset = 0;  ///< found by allocate()
};

/// Bytes from 0 to the end of the last piece. Nothing when there are too many pieces to place as Triton would.
std::optional<std::int64_t> allocate(std::vector<MemoryPiece>& pieces);

struct TensorPiece {
  std::int64_t columns = 0;
  std::int64_t rows = 128;  ///< or 64
  Life life;
  int specialize = -1, region = -1;
  int tied = -1;  ///< pieces with the same number must lie in the same rows; -1: free
  std::int64_t column = 0, row = 0;
};

/// Columns up to the end of the last piece. Pieces must come in the order of the program.
std::int64_t allocate(std::vector<TensorPiece>& pieces);

}  // namespace heddle::triton
