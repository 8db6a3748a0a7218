// The wrapper of one wgmma, whose operands depend on the widths of the tile; all other wrappers are in codegen/device.
#pragma once

#include <compare>
#include <string>

#include "core/kernel/kernel.h"

namespace heddle::codegen {

/// One wgmma into f32: m64nNk16 of 16-bit numbers, both of one type; m64nNk32 of 8-bit floats, which must be stored along K.
struct ProductShape {
  int n = 8;
  bool a_registers = false;  ///< else a descriptor
  bool a_mn_major = false;   ///< A is stored with M contiguous (transpose bit)
  bool b_mn_major = false;   ///< B is stored with N contiguous
  DType a = DType::Bf16, b = DType::Bf16;
  /// Of K, in one instruction: 32 bytes.
  int depth() const { return 256 / bits_of(a); }
  auto operator<=>(const ProductShape&) const = default;
};

/// That a wgmma multiplies into f32.
bool makes_product(DType a, DType b);

std::string product_name(const ProductShape& shape);
std::string product_text(const ProductShape& shape);

}  // namespace heddle::codegen
