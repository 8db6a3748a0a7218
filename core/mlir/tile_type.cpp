// A small scanner: dimensions up to the last 'x', then the element's name.
#include "core/mlir/tile_type.h"

#include <algorithm>
#include <charconv>

#include "core/base/saturate.h"
#include "core/base/scanner.h"

namespace heddle::dump {
namespace {

constexpr std::int64_t kLargestExtent = std::int64_t{1} << 31;
constexpr std::size_t kLargestRank = 8;

std::int64_t bits_of_element(std::string_view name) {
  if (name.starts_with("!tt.ptr") || name == "index") return 64;
  const std::size_t digit = name.find_first_of("0123456789");
  if (digit == std::string_view::npos) return 32;
  const auto bits = number_in_front<std::int64_t>(name.substr(digit));
  return bits >= 1 && bits <= 128 ? bits : 32;
}

/// What stands between the brackets after `head`, up to the first comma or closing bracket on its level.
std::string_view first_argument(std::string_view text, std::string_view head) {
  text.remove_prefix(head.size());
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && depth-- == 0) return text.substr(0, i);
    if (text[i] == ',' && depth == 0) return text.substr(0, i);
  }
  return text;
}

/// False when it is no "AxBxELEMENT".
bool shape_and_element(std::string_view text, TileType& type) {
  while (!text.empty()) {
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || end == text.data() + text.size() || *end != 'x') break;
    if (extent < 1 || extent > kLargestExtent || type.shape.size() >= kLargestRank) return false;
    type.shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
  type.element = std::string(text.substr(0, 40));
  type.bits = bits_of_element(text);
  if (type.element.starts_with("!tt.ptr")) type.element = "ptr";
  return !type.shape.empty() && !type.element.empty();
}

}  // namespace

std::int64_t TileType::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product = sat_mul(product, extent);
  return product;
}

std::int64_t TileType::bytes() const { return tile() ? std::max<std::int64_t>(1, sat_add(sat_mul(elements(), bits), 7) / 8) : 0; }

std::string TileType::text() const {
  std::string out;
  for (const std::int64_t extent : shape) out += (out.empty() ? "" : "x") + std::to_string(extent);
  if (!element.empty()) out += (out.empty() ? "" : " ") + element;
  return out;
}

TileType parse_tile_type(std::string_view text) {
  TileType type;
  if (text.starts_with("!ttg.async.token")) {
    type.space = TileType::Space::Token;
    return type;
  }
  for (const auto& [head, space] : {std::pair{std::string_view("tensor<"), TileType::Space::Register},
                                    {std::string_view("!ttg.memdesc<"), TileType::Space::Smem},
                                    {std::string_view("!tt.memdesc<"), TileType::Space::Smem}}) {
    if (!text.starts_with(head)) continue;
    TileType tile;
    if (!shape_and_element(first_argument(text, head), tile)) break;
    tile.space = space;
    if (space == TileType::Space::Smem && text.find("tensor_memory") != std::string_view::npos) tile.space = TileType::Space::Tmem;
    return tile;
  }
  type.element = std::string(text.substr(0, 40));
  type.bits = bits_of_element(text);
  return type;
}

DType nearest_dtype(const TileType& type) {
  if (type.element == "bf16") return DType::Bf16;
  if (type.element == "f16") return DType::F16;
  if (type.element.starts_with("f8E5")) return DType::F8e5m2;
  if (type.element.starts_with("f8")) return DType::F8e4m3;
  if (type.element == "f32") return DType::F32;
  return type.bits <= 8 ? DType::F8e4m3 : type.bits <= 16 ? DType::F16 : DType::I32;
}

}  // namespace heddle::dump
