// The wrapper of one wgmma, whose operands depend on the widths of the tile; all other wrappers are in codegen/device.
#pragma once

#include <compare>
#include <string>

namespace heddle::codegen {

/// One wgmma m64nNk16 into f32.
struct ProductShape {
  int n = 8;
  bool a_registers = false;  ///< else a descriptor
  bool a_mn_major = false;   ///< A is stored with M contiguous (transpose bit)
  bool b_mn_major = false;   ///< B is stored with N contiguous
  bool f16 = false;          ///< else bf16
  auto operator<=>(const ProductShape&) const = default;
};

std::string product_name(const ProductShape& shape);
std::string product_text(const ProductShape& shape);

}  // namespace heddle::codegen
