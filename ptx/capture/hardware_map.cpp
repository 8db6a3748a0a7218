// Address in 8 bytes; form in 4; strides but the innermost in 16-byte units, 4 bytes each; extents less one, 4 bytes each; element strides
// less one, 3 bits each; box less one, a byte each.
#include "ptx/capture/hardware_map.h"

#include <cstring>
#include <iterator>

namespace heddle::ptx::capture {
namespace {

constexpr std::uint32_t kVersion = 2, kTensorFloat = 1 << 16;
/// By its number here, which is not that of cuda.h.
constexpr MapElement kElements[] = {MapElement::U8,  MapElement::U16, MapElement::U32,    MapElement::I32, MapElement::U64, MapElement::I64,
                                    MapElement::F16, MapElement::F32, MapElement::F32Ftz, MapElement::F64, MapElement::Bf16};
constexpr std::size_t kForm = 8, kStrides = 12, kExtents = 32, kBox = 55, kUsed = 60;

std::uint32_t word(const std::uint8_t* bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

std::optional<TensorMap> read_hardware_map(const std::uint8_t* bytes) {
  const std::uint32_t form = word(bytes + kForm), rank = (form >> 4 & 7) + 1, element = form >> 7 & 15, interleave = form >> 11 & 3;
  if ((form & 15) != kVersion || rank > 5 || element >= std::size(kElements) || interleave > 2) return std::nullopt;
  for (std::size_t at = kUsed; at < kUsed + 4; ++at)
    if (bytes[at] != 0) return std::nullopt;
  TensorMap map;
  std::memcpy(&map.address, bytes, sizeof map.address);
  map.element = kElements[element];
  if (form & kTensorFloat && map.element == MapElement::F32) map.element = MapElement::Tf32;
  map.interleave = static_cast<int>(interleave) * 16;
  map.swizzle = (form >> 13 & 3) == 0 ? 0 : 16 << (form >> 13 & 3);
  for (std::uint32_t dimension = 0; dimension < rank; ++dimension) {
    map.extents.push_back(std::uint64_t{word(bytes + kExtents + 4 * dimension)} + 1);
    map.box.push_back(bytes[kBox + dimension] + 1u);
    map.steps.push_back(1);
    if (dimension > 0) map.strides.push_back(std::uint64_t{word(bytes + kStrides + 4 * (dimension - 1))} * 16);
  }
  for (const std::uint64_t stride : map.strides)
    if (stride == 0) return std::nullopt;
  return map;
}

}  // namespace heddle::ptx::capture
