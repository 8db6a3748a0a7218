#include "ptx/launch/launch.h"

#include <algorithm>

#include "core/base/saturate.h"

namespace heddle::ptx {

const char* to_string(MapElement element) {
  static constexpr const char* kNames[] = {"u8",  "u16",  "u32",     "i32",  "u64",      "i64",       "f16",        "f32",
                                           "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz", "u4_align8", "u4_align16", "u6_align16"};
  return kNames[static_cast<int>(element)];
}

std::uint64_t bytes_of_16(MapElement element) {
  switch (element) {
    case MapElement::U8: return 16;
    case MapElement::U16:
    case MapElement::F16:
    case MapElement::Bf16: return 32;
    case MapElement::U32:
    case MapElement::I32:
    case MapElement::F32:
    case MapElement::F32Ftz:
    case MapElement::Tf32:
    case MapElement::Tf32Ftz: return 64;
    case MapElement::U64:
    case MapElement::I64:
    case MapElement::F64: return 128;
    case MapElement::U4Align8:
    case MapElement::U4Align16: return 8;
    case MapElement::U6Align16: return 12;
  }
  return 16;
}

std::uint64_t shared_bytes_of_16(MapElement element) {
  return element == MapElement::U4Align16 || element == MapElement::U6Align16 ? 16 : bytes_of_16(element);
}

std::uint64_t box_bytes(const TensorMap& map) {
  std::int64_t elements = 1;
  for (const std::uint32_t size : map.box) elements = sat_mul(elements, size);
  return static_cast<std::uint64_t>(sat_mul(elements, static_cast<std::int64_t>(shared_bytes_of_16(map.element)))) / 16;
}

std::uint64_t tensor_bytes(const TensorMap& map) {
  if (map.extents.empty()) return 0;
  const auto number = [](std::uint64_t x) { return static_cast<std::int64_t>(std::min<std::uint64_t>(x, kSaturated)); };
  std::int64_t bytes = sat_mul(number(map.extents[0]), static_cast<std::int64_t>(bytes_of_16(map.element))) / 16;
  for (std::size_t d = 1; d < map.extents.size() && d <= map.strides.size(); ++d)
    bytes = sat_add(bytes, sat_mul(std::max<std::int64_t>(number(map.extents[d]), 1) - 1, number(map.strides[d - 1])));
  return static_cast<std::uint64_t>(bytes);
}

std::vector<std::uint64_t> dense_strides(const TensorMap& map) {
  std::vector<std::uint64_t> strides;
  std::int64_t elements = 1;
  for (std::size_t d = 0; d + 1 < map.extents.size(); ++d) {
    elements = sat_mul(elements, static_cast<std::int64_t>(std::min<std::uint64_t>(map.extents[d], kSaturated)));
    strides.push_back(static_cast<std::uint64_t>(sat_mul(elements, static_cast<std::int64_t>(bytes_of_16(map.element)))) / 16);
  }
  return strides;
}

}  // namespace heddle::ptx
