// Operands are made of pieces of 16 bytes. Where each lies follows from the canonical layouts of the PTX ISA (wgmma: strides; tcgen05:
// canonical layouts); the pattern exchanges pieces by bits of their addresses.
#include "ptx/units/descriptor.h"

#include <algorithm>

namespace heddle::ptx {
namespace {

constexpr int kPiece = 16;

MatrixPlace plain_place(std::uint64_t descriptor, bool mn_major) {
  MatrixPlace place;
  place.start = static_cast<std::uint32_t>(descriptor & 0x3FFF) << 4;
  place.leading = static_cast<std::uint32_t>(descriptor >> 16 & 0x3FFF) << 4;
  place.stride = static_cast<std::uint32_t>(descriptor >> 32 & 0x3FFF) << 4;
  place.mn_major = mn_major;
  return place;
}

std::uint32_t swizzled(const MatrixPlace& place, std::uint32_t address) {
  if (place.by_32) return address ^ (address >> 7 & 3) << 5;
  switch (place.swizzle) {
    case 128: return address ^ (address >> 7 & 7) << 4;
    case 64: return address ^ (address >> 7 & 3) << 4;
    case 32: return address ^ (address >> 7 & 1) << 4;
    default: return address;
  }
}

/// Eight rows make a group; without a pattern pieces of eight rows lie together.
void k_major(const MatrixPlace& place, const MatrixExtent& extent, std::vector<std::uint32_t>& pieces) {
  for (int row = 0; row < extent.rows; ++row)
    for (int k = 0; k < extent.k_bytes; k += kPiece) {
      const auto group = static_cast<std::uint32_t>(row / 8) * place.stride;
      const auto in_group = static_cast<std::uint32_t>(row % 8);
      const std::uint32_t address =
          place.swizzle == 0 ? place.start + group + in_group * kPiece + static_cast<std::uint32_t>(k / kPiece) * place.leading
                             : place.start + group + in_group * static_cast<std::uint32_t>(place.swizzle) + static_cast<std::uint32_t>(k);
      pieces.push_back(swizzled(place, address));
    }
}

/// A line holds `span` bytes of rows for one k; 8 lines (4 where 32 bytes stay together) make a group.
void mn_major(const MatrixPlace& place, const MatrixExtent& extent, std::vector<std::uint32_t>& pieces) {
  const int span = place.swizzle == 0 ? kPiece : place.swizzle;
  const int lines = place.by_32 ? 4 : 8;
  const int row_bytes = extent.rows * extent.bits / 8;
  const int k_count = extent.k_bytes * 8 / extent.bits;
  // Without a pattern the two distances change places.
  const std::uint32_t along_rows = place.swizzle == 0 ? place.stride : place.leading;
  const std::uint32_t along_k = place.swizzle == 0 ? place.leading : place.stride;
  for (int k = 0; k < k_count; ++k)
    for (int at = 0; at < row_bytes; at += kPiece) {
      const std::uint32_t line = place.start + static_cast<std::uint32_t>(k / lines) * along_k +
                                 static_cast<std::uint32_t>(k % lines) * static_cast<std::uint32_t>(span) +
                                 static_cast<std::uint32_t>(at / span) * along_rows;
      pieces.push_back(swizzled(place, line + static_cast<std::uint32_t>(at % span)));
    }
}

}  // namespace

MatrixPlace wgmma_place(std::uint64_t descriptor, bool mn_major) {
  MatrixPlace place = plain_place(descriptor, mn_major);
  static constexpr int kPatterns[] = {0, 128, 64, 32};
  place.swizzle = kPatterns[descriptor >> 62 & 3];
  return place;
}

MatrixPlace tcgen05_place(std::uint64_t descriptor, bool mn_major) {
  MatrixPlace place = plain_place(descriptor, mn_major);
  static constexpr int kPatterns[] = {0, 128, 128, 0, 64, 0, 32, 0};
  place.swizzle = kPatterns[descriptor >> 61 & 7];
  place.by_32 = (descriptor >> 61 & 7) == 1;
  return place;
}

const std::vector<ByteRange>& Footprints::of(const MatrixPlace& place, const MatrixExtent& extent) {
  const auto [found, is_new] = made_.try_emplace({place, extent});
  if (!is_new) return found->second;
  std::vector<std::uint32_t> pieces;
  if (place.mn_major)
    mn_major(place, extent, pieces);
  else
    k_major(place, extent, pieces);
  std::sort(pieces.begin(), pieces.end());
  for (const std::uint32_t piece : pieces) {
    std::vector<ByteRange>& ranges = found->second;
    if (!ranges.empty() && piece <= ranges.back().end)
      ranges.back().end = std::max(ranges.back().end, piece + kPiece);
    else
      ranges.push_back({piece, piece + kPiece});
  }
  return found->second;
}

}  // namespace heddle::ptx
