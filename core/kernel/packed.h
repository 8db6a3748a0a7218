// The order of bytes of prepacked weights: numbers of 4 bits, [rows, columns], both multiples of 64. Blocks of 64 x 64 follow each other as
// rows of blocks do. A block has 16 bytes for each of the 128 threads of a warpgroup, one after the other: what the thread gives to a
// product of 64 rows as its operand A, 16 columns a word. Pairs of neighbours, which are a register's two halves when they are 16 bits
// wide, lie half a word apart, so that they are taken out together.
#pragma once

#include <cstdint>

namespace heddle {

inline constexpr std::int64_t kPackedBlock = 64;  ///< rows, and columns

/// Where the element lies, counted in elements. Pre: row and column are of the matrix, `columns` is a multiple of 64.
constexpr std::int64_t packed_place(std::int64_t row, std::int64_t column, std::int64_t columns) {
  const std::int64_t block = row / kPackedBlock * (columns / kPackedBlock) + column / kPackedBlock;
  const std::int64_t r = row % kPackedBlock, c = column % kPackedBlock;
  const std::int64_t thread = r / 16 * 32 + r % 8 * 4 + c % 8 / 2, word = c / 16;
  const std::int64_t in_word = c % 2 * 4 + c % 16 / 8 * 2 + r % 16 / 8;
  return block * kPackedBlock * kPackedBlock + thread * 32 + word * 8 + in_word;
}

}  // namespace heddle
