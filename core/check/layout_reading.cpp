#include "core/check/layout_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace heddle::check_layout {

std::int64_t number_of(const Coordinates& element, const std::vector<std::int64_t>& shape) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) number = number * shape[d] + element[d];
  return number;
}

MemoryOffsets read_memory(const Layout& layout) {
  MemoryOffsets memory;
  std::int64_t elements = 1;
  for (const std::int64_t extent : layout.shape) elements *= extent;
  const std::int64_t places = layout.extent(LayoutAxis::Offset);
  if (elements > kMostPlaces || places > kMostPlaces) return {{}, "is too large to be counted"};
  memory.offsets.assign(static_cast<std::size_t>(elements), -1);
  for (std::int64_t offset = 0; offset < places; ++offset) {
    LayoutPlace place;
    place[LayoutAxis::Offset] = offset;
    const std::optional<Coordinates> element = element_at(layout, place);
    if (!element) continue;
    std::int64_t& at = memory.offsets[static_cast<std::size_t>(number_of(*element, layout.shape))];
    if (at >= 0) return {{}, fmt::format("keeps element ({}) at {} and at {}", fmt::join(*element, ", "), at, offset)};
    at = offset;
  }
  for (std::size_t e = 0; e < memory.offsets.size(); ++e)
    if (memory.offsets[e] < 0) return {{}, fmt::format("has no place for element {}", e)};
  return memory;
}

bool lies_in_panels(const MemoryOffsets& memory, const std::vector<std::int64_t>& shape, int bits, std::int64_t span) {
  if (shape.size() == 1) {
    for (std::size_t e = 0; e < memory.offsets.size(); ++e)
      if (memory.offsets[e] != static_cast<std::int64_t>(e)) return false;
    return span == 0;
  }
  if (shape.size() != 2 || (span != 0 && bits > 128)) return false;
  const std::int64_t rows = shape[0], columns = shape[1];
  const std::int64_t width = span == 0 ? std::min<std::int64_t>(columns, 256) : span * 8 / bits;
  if (columns % width != 0) return false;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t panel = c / width, column = c % width;
      std::int64_t offset = panel * rows * width + r * width + column;
      if (span != 0) {
        const std::int64_t bit = (r * width + column) * bits, piece = bit / 128, pieces = span / 16;
        const std::int64_t exchanged = piece ^ (piece / 8 % pieces);
        offset = panel * rows * width + (exchanged * 128 + bit % 128) / bits;
      }
      if (memory.offsets[static_cast<std::size_t>(r * columns + c)] != offset) return false;
    }
  return true;
}

Order natural(std::int64_t count) {
  Order order(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  return order;
}

std::optional<Order> order_of_rows(const MemoryOffsets& memory, const std::vector<std::int64_t>& shape, int bits, std::int64_t only) {
  if (shape.size() != 2) return std::nullopt;
  const std::int64_t rows = shape[0], columns = shape[1];
  MemoryOffsets sorted = memory;
  Order order(static_cast<std::size_t>(rows));
  for (const std::int64_t span : {128, 64, 32}) {
    if (only != 0 && span != only) continue;
    // The first element of a row says at which place of its panel the row is: the pieces of a place are exchanged among themselves.
    const std::int64_t width = span * 8 / bits;
    std::vector<bool> taken(order.size(), false);
    bool all = true;
    for (std::int64_t r = 0; r < rows && all; ++r) {
      const std::int64_t place = memory.offsets[static_cast<std::size_t>(r * columns)] / width;
      all = place < rows && !taken[static_cast<std::size_t>(place)];
      if (!all) break;
      taken[static_cast<std::size_t>(place)] = true;
      order[static_cast<std::size_t>(place)] = r;
      std::copy_n(memory.offsets.begin() + r * columns, columns, sorted.offsets.begin() + place * columns);
    }
    if (all && lies_in_panels(sorted, shape, bits, span)) return order;
  }
  return std::nullopt;
}

std::optional<Order> order_of_columns(const Layout& held, std::int64_t per) {
  if (held.shape.size() != 2 || held.shape[0] != 64 || held.shape[1] % (4 * per) != 0) return std::nullopt;
  Order order(static_cast<std::size_t>(held.shape[1]), -1);
  for (std::int64_t reg = 0; reg < held.shape[1] / 2; ++reg)
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
      for (std::int64_t warp = 0; warp < 4; ++warp) {
        LayoutPlace place;
        place[LayoutAxis::Register] = reg, place[LayoutAxis::Lane] = lane, place[LayoutAxis::Warp] = warp;
        const auto element = element_at(held, place);
        const std::int64_t column = reg / (2 * per) * 4 * per + lane % 4 * per + reg % per;
        if (!element || (*element)[0] != warp * 16 + lane / 4 + reg / per % 2 * 8) return std::nullopt;
        std::int64_t& there = order[static_cast<std::size_t>(column)];
        if (there >= 0 && there != (*element)[1]) return std::nullopt;
        there = (*element)[1];
      }
  return order;
}

std::int64_t count_shuffles(const Layout& from, const Layout& to, int bits) {
  const std::int64_t per = std::max(1, 32 / bits), lanes = kLanes;
  std::set<std::string> fetched;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<std::int64_t, std::int64_t>>> held;  // by warp and element
  for (std::int64_t warp = 0; warp < from.extent(LayoutAxis::Warp); ++warp)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      for (std::int64_t reg = 0; reg < from.extent(LayoutAxis::Register); ++reg) {
        LayoutPlace place;
        place[LayoutAxis::Register] = reg, place[LayoutAxis::Lane] = lane, place[LayoutAxis::Warp] = warp;
        if (const auto element = element_at(from, place)) held[{warp, number_of(*element, from.shape)}].emplace_back(lane, reg);
      }
  for (std::int64_t reg = 0; reg < to.extent(LayoutAxis::Register); ++reg) {
    std::string lanes_taken;
    std::set<std::int64_t> words;
    bool others = false;
    for (std::int64_t warp = 0; warp < to.extent(LayoutAxis::Warp); ++warp)
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        LayoutPlace place;
        place[LayoutAxis::Register] = reg, place[LayoutAxis::Lane] = lane, place[LayoutAxis::Warp] = warp;
        const auto element = element_at(to, place);
        if (!element) continue;
        const auto places = held.find({warp, number_of(*element, to.shape)});
        if (places == held.end()) return -1;
        auto nearest = places->second.front();
        for (const auto& other : places->second)
          if (std::pair(other.first ^ lane, other.second) < std::pair(nearest.first ^ lane, nearest.second)) nearest = other;
        lanes_taken += static_cast<char>('0' + (nearest.first ^ lane));
        words.insert(nearest.second / per);
        others = others || nearest.first != lane;
      }
    for (const std::int64_t word : words)
      if (others) fetched.insert(fmt::format("{} {}", word, lanes_taken));
  }
  return static_cast<std::int64_t>(fetched.size());
}

bool lies_packed(const MemoryOffsets& memory, const std::vector<std::int64_t>& shape, int bits, bool lines) {
  if (shape.size() != 2 || shape[0] != 64 || (bits != 4 && bits != 32) || shape[1] % (bits == 4 ? 64 : 8) != 0) return false;
  const auto in_lines = [&] {
    for (std::int64_t offset = 0; offset < static_cast<std::int64_t>(memory.offsets.size()); ++offset) {
      const std::int64_t warp = offset / 128 % 4, reg = offset / 32 % 4, lane = offset % 32;
      const std::int64_t row = warp * 16 + lane / 4 + reg / 2 * 8, column = offset / 512 * 8 + lane % 4 * 2 + reg % 2;
      if (memory.offsets[static_cast<std::size_t>(row * shape[1] + column)] != offset) return false;
    }
    return true;
  };
  if (lines) return bits == 32 && in_lines();
  for (std::int64_t offset = 0; offset < static_cast<std::int64_t>(memory.offsets.size()); ++offset) {
    std::int64_t row = 0, column = 0;
    if (bits == 4) {
      const std::int64_t thread = offset / 32 % 128, word = offset / 8 % 4, pair = offset % 4, second = offset / 4 % 2;
      row = thread / 32 * 16 + thread % 32 / 4 + pair % 2 * 8;
      column = offset / 4096 * 64 + word * 16 + pair / 2 * 8 + thread % 4 * 2 + second;
    } else {
      const std::int64_t thread = offset / 4 % 128, number = offset % 4;
      row = thread / 32 * 16 + thread % 32 / 4 + number / 2 * 8;
      column = offset / 512 * 8 + thread % 4 * 2 + number % 2;
    }
    if (memory.offsets[static_cast<std::size_t>(row * shape[1] + column)] != offset) return false;
  }
  return true;
}

bool turns(const MemoryOffsets& turned, const MemoryOffsets& memory, const std::vector<std::int64_t>& shape) {
  if (shape.size() != 2 || turned.offsets.size() != memory.offsets.size()) return false;
  for (std::int64_t r = 0; r < shape[0]; ++r)
    for (std::int64_t c = 0; c < shape[1]; ++c)
      if (turned.offsets[static_cast<std::size_t>(c * shape[0] + r)] != memory.offsets[static_cast<std::size_t>(r * shape[1] + c)])
        return false;
  return true;
}

bool in_boxes(const Order& rows) {
  if (rows.empty() || rows.size() % 16 != 0) return false;
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (rows[r] != static_cast<std::int64_t>(r / 16 * 16 + r % 16 / 8 * 2 + r % 8 / 2 * 4 + r % 2)) return false;
  return true;
}

}  // namespace heddle::check_layout
