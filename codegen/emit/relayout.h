// A tile from one layout in registers to another, as text: other registers of a thread, other bytes of them, or a shuffle within a warp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/layout/layout.h"

namespace heddle::codegen {

struct RelayoutText {
  ConversionClass kind = ConversionClass::Same;
  std::vector<std::string> lines;  ///< statements in which `lane` and `tid` are known
  std::string refusal;             ///< why there is no text; empty: there is
};
/// Two arrays of 32-bit words.
struct RelayoutArrays {
  std::string_view source, target;
  std::string_view word;  ///< their type: "u32", "float"
};
/// Of elements of `bits`, lowest first. Elements that lie in several threads are taken from the nearest. What lies in other warps is
/// refused: it goes through shared memory (OpPlan::scratch_bytes).
RelayoutText relayout_text(const Layout& from, const Layout& to, int bits, const RelayoutArrays& arrays);

}  // namespace heddle::codegen
