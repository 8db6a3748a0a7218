// The order of bytes of packed tensors: matrices whose tiles lie in memory as the threads of a warpgroup take them, 16 bytes at once.
// Weights are packed once, before they go to the GPU ("prepacked"); what only kernels see may be kept so.
//
// Blocks of 64 rows follow each other as rows of blocks do. A block has 16 bytes for each of the 128 threads, one thread after the other:
// of 4 bits what a thread gives to a product of 64 x 64 as its operand A, 16 columns a word, where pairs of neighbours, which are a
// register's two halves when they are 16 bits wide, lie half a word apart, so that they are taken out together; wider what it has of a
// product's result, register after register. Of results there is a second order: a warp's registers one after the other, in lines of 32
// lanes, as stmatrix stores four of them at once.
#pragma once

#include <cstdint>

namespace heddle {

inline constexpr std::int64_t kPackedRows = 64, kPackedBytes = 16;  ///< of a block; of a thread

enum class PackedOrder { Threads, Lines };

/// Of a block: as many as 16 bytes of each of the four threads that share a row have of two rows. Pre: 4, 16 or 32 bits.
constexpr std::int64_t packed_columns(int bits) { return kPackedBytes * 8 / bits * 2; }

/// Where the element lies, counted in elements. Pre: row and column are of the matrix, `columns` is a multiple of packed_columns().
/// Lines: 32 bits.
constexpr std::int64_t packed_place(std::int64_t row, std::int64_t column, std::int64_t columns, int bits,
                                    PackedOrder order = PackedOrder::Threads) {
  const std::int64_t width = packed_columns(bits), of_thread = kPackedBytes * 8 / bits;
  const std::int64_t block = row / kPackedRows * (columns / width) + column / width;
  const std::int64_t r = row % kPackedRows, c = column % width, lower = r % 16 / 8;
  const std::int64_t thread = r / 16 * 32 + r % 8 * 4 + c % 8 / 2;
  if (order == PackedOrder::Lines) return block * kPackedRows * width + r / 16 * 128 + (lower * 2 + c % 2) * 32 + thread % 32;
  const std::int64_t at = bits == 4 ? c / 16 * 8 + c % 2 * 4 + c % 16 / 8 * 2 + lower : c / 8 * 4 + lower * 2 + c % 2;
  return block * kPackedRows * width + thread * of_thread + at;
}

}  // namespace heddle
