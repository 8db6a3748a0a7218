// What the checker finds in layouts by itself, place by place. It shares no code with what planned them (core/layout), so that either can
// convict the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/layout.h"

namespace heddle::check_layout {

inline constexpr std::int64_t kMostPlaces = std::int64_t{1} << 22;
inline constexpr int kLanes = 32;

using Offsets = std::vector<std::int64_t>;  ///< of each element of a tile, row by row

std::int64_t number_of(const Coordinates& element, const std::vector<std::int64_t>& shape);

/// Where memory keeps each element. Why not, where two share a place or one has none.
struct MemoryOffsets {
  Offsets offsets;
  std::string wrong;
};
MemoryOffsets read_memory(const Layout& layout);

/// Bytes of each element as TMA's boxes leave a tile and wgmma reads it: rows of `span` bytes, whose pieces of 16 bytes are exchanged by
/// the number of the row in 1024, 512 or 256 bytes.
bool lies_in_panels(const MemoryOffsets& memory, const std::vector<std::int64_t>& shape, int bits, std::int64_t span);
/// As tiles of packed tensors lie in memory: 64 rows, 16 bytes of a block for each thread of a warpgroup. Of 4 bits a block has 64 columns,
/// of which a thread takes A of a product; of 32 it has 8, of which a thread has a product's result, or a warp has each
/// register in a line of its lanes.
bool lies_packed(const MemoryOffsets& memory, const std::vector<std::int64_t>& shape, int bits, bool lines);

/// The one has at [column, row] what the other, of this shape, has at [row, column].
bool turns(const MemoryOffsets& turned, const MemoryOffsets& memory, const std::vector<std::int64_t>& shape);

using Order = std::vector<std::int64_t>;  ///< what stands at each place along an axis

Order natural(std::int64_t count);
/// Of the rows of panels of 128, 64 or 32 bytes, or only of `span`; nothing where a tile does not lie in such, whatever the order of its
/// rows.
std::optional<Order> order_of_rows(const MemoryOffsets& memory, const std::vector<std::int64_t>& shape, int bits, std::int64_t only = 0);
/// Of the columns that threads hold in `per` neighbouring registers each, as wgmma makes its result (2 of 32 bits) and takes A (of 32
/// bits); nothing where they hold other rows, or no such columns.
std::optional<Order> order_of_columns(const Layout& held, std::int64_t per);
/// Rows 2 j + 4 q + i of each 16 at 8 j + 2 q + i: the boxes of TMA can bring them so.
bool in_boxes(const Order& rows);

/// Of each place of the target: the lane of the same warp that has the element and is told apart by the lowest bits, and in which of its
/// words of 32 bits. An instruction fetches a word of other lanes for all lanes. -1: some elements are in no lane of their warp.
std::int64_t count_shuffles(const Layout& from, const Layout& to, int bits);

}  // namespace heddle::check_layout
