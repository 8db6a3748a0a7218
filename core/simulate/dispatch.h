// Tiles handed out to places on SMs: whichever place is free first takes the next one, as the hardware does it, and as persistent CTAs do
// that draw tiles from a counter.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/id.h"

namespace heddle {

struct Dispatch {
  std::vector<Cycle> ends;                       ///< of each place
  std::vector<std::vector<std::int32_t>> taken;  ///< by each place: positions in the list of tiles
  Cycle cycles = 0;                              ///< until the last one ends
  std::size_t last = 0;                          ///< the place that ends last
};

/// `trips` of each tile, in the order in which they are handed out; `cost` of a tile of so many, asked once per number. Ties go to the
/// place with the smaller number. Pre: places >= 1.
Dispatch dispatch(std::span<const std::int64_t> trips, std::int64_t places, const std::function<Cycle(std::int64_t)>& cost);

/// By falling length. Tiles of one length are alike.
void sort_longest_first(std::vector<std::int64_t>& trips);

/// Tiles of more than `most` trips are cut into pieces of that many and a rest; 0: none is. The others stay as they are, in their order.
std::vector<std::int64_t> split_tiles(std::span<const std::int64_t> trips, std::int64_t most);

}  // namespace heddle
