// The types in a compiler's dump: "tensor<128x64xf32, #layout>", "!ttg.memdesc<64x128xf16, ..., #ttg.shared_memory>",
// "!ttg.async.token", "i32". Shape, element type and place are all that scheduling needs; layouts are skipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/kernel.h"

namespace heddle::dump {

struct TileType {
  enum class Space { None, Register, Smem, Tmem, Token };
  Space space = Space::None;        ///< None: a scalar, a pointer, a descriptor
  std::vector<std::int64_t> shape;  ///< empty for scalars
  std::string element;              ///< "f32", "bf16", "f8E4M3FN", "i32", "ptr"
  std::int64_t bits = 32;           ///< of an element

  bool tile() const { return space == Space::Register || space == Space::Smem || space == Space::Tmem; }
  std::int64_t elements() const;  ///< saturates
  std::int64_t bytes() const;     ///< at least 1 for a tile
  std::string text() const;       ///< "128x64 bf16"; "f32" for a scalar
};

/// Never fails: what it does not know is a type without a place, named by its text.
TileType parse_tile_type(std::string_view text);

/// The element type that holds as many bits; I32 for what has no like.
DType nearest_dtype(const TileType& type);

}  // namespace heddle::dump
