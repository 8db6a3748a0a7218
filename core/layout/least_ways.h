// A layout of shared memory made for two accesses, one that writes and one that reads: no layout that both fit has fewer ways of either.
//
// An access is linear: its lanes' bits and the elements inside an address span a space V of moves, and its ways are
// 2^dim(V and K), where K are the moves that stay in their banks. Addresses are multiples of what they hold, so K consists of moves of
// the wider access's addresses. In these a K exists that meets both spaces in as little as their dimensions allow: two spaces of one
// dimension have a common complement. (The construction: sums of pairs of what only one of them has, and what neither has; K. Zhou et
// al., "Linear Layouts", arXiv 2505.23819, pair the same sets.)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/layout/layout.h"
#include "core/machine/instruction.h"

namespace heddle {

/// How an instruction moves through a tile. Elements are numbered by the bits of their coordinates; a move is what of those bits it
/// changes.
struct AccessMoves {
  std::vector<std::uint64_t> inside;  ///< one address: to the element that lies 1, 2, 4, ... further in memory
  std::vector<std::uint64_t> lanes;   ///< per bit of the number of a lane, or of a matrix's row, among those of a phase
  std::vector<std::uint64_t> rest;    ///< all else that moves an address: phases, instructions, warps
};

/// Of a layout that both accesses fit, with the fewest ways of each: per bit of the offset the move. Nothing where none fits both: what
/// lies inside an address of one is no beginning of what lies inside the other's, or their addresses are no multiples of it.
/// `tile_bits`: 2^tile_bits elements; `row_bits`: 2^row_bits elements are a row of all banks. Pre: an address holds
/// a word or more. Nothing, too, where the moves do not reach all elements.
std::optional<std::vector<std::uint64_t>> least_ways(const AccessMoves& one, const AccessMoves& other, int tile_bits, int row_bits);

/// The same of registers and instructions of the catalogue, as a layout; nothing, too, where extents are no powers of two, or an address
/// holds less than a word.
std::optional<Layout> least_ways_layout(const Layout& one, const Instruction& by_one, const Layout& other, const Instruction& by_other,
                                        int bits);

}  // namespace heddle
