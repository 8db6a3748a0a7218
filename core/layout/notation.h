// Layouts as people write them: CuTe's "Sw<3,4,3> o (64,64):(64,1)" for memory, Triton's bases
// "{register = [[0, 1], [8, 0]], lane = [...], warp = [...]}" for registers (and "{offset = [...]}"), and names for those that kernels use
// most (core/layout/known.h): "accumulator", "panels 128".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/layout/layout.h"

namespace heddle {

/// What a text may leave open.
struct LayoutContext {
  std::vector<std::int64_t> shape;  ///< of the tile; empty: as the text says
  int bits = 16;                    ///< of an element
};

/// Any of the three. Swizzles are in elements, as CuTe prints them for a typed tensor (Sw<3,3,3> of 16-bit elements exchanges 16-byte
/// pieces); "S<...>" and "Swizzle<...>" are read too. `file` and `pointer` are where faults say the text stands. Faults: what is not read,
/// swizzles with b + m + s > 30 or that leave the atom, everything of faults_of(). Long or deep text is a fault, never slow.
Result<Layout> parse_layout(std::string_view text, const LayoutContext& context, const std::string& file = {},
                            const std::string& pointer = {});

/// CuTe's notation, of memory only; empty where there is none (bases that are no swizzle). Reads back as the same places.
std::string cute_text(const Layout& layout);
/// Triton's; empty for repeats that are no power of two.
std::string triton_text(const Layout& layout);
/// The name where it has one, else CuTe's notation, else Triton's, else Triton's with "repeat = [[axis, extent, pitch, dimension, step]]".
/// Always reads back as the same places.
std::string layout_text(const Layout& layout, int bits);

}  // namespace heddle
