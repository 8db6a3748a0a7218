// Layouts as Triton prints them - "#ttg.blocked<{...}>", "#mma = #ttg.nvidia_mma<{...}>", "tensor<128x64xf16, #ttg.dot_op<{...}>>",
// "#ttg.nvmma_shared<{...}>" - as layouts of core/layout: what people paste.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/layout/notation.h"
#include "core/triton/read/linear.h"

namespace heddle::triton {

/// Registers, lanes and warps of a tile; nothing where several blocks share it.
std::optional<heddle::Layout> as_layout(const Linear& linear);

struct PrintedLayout {
  heddle::Layout layout;
  int bits = 0;  ///< of an element, where the text says it; 0: it does not
};

/// True of what only read_layout() understands: texts that begin with '#', '!' or "tensor<".
bool is_printed_layout(std::string_view text);

/// Whatever parse_layout() reads, and what Triton prints: registers of every layout that linear_of() understands, shared memory swizzled by
/// vectors and phases or as TMA does it. Lines before the last may define aliases ("#mma = ..."), as a text of Triton begins. The shape is
/// that of the type, else of the context; layouts that do not say one need it.
Result<PrintedLayout> read_layout(std::string_view text, const LayoutContext& context, const std::string& file = {},
                                  const std::string& pointer = {});

}  // namespace heddle::triton
