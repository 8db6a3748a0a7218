// Why a value cannot lie as somebody wants it to: what the ops that touch it need. Empty: it can. Each names who asks.
#pragma once

#include <cstddef>
#include <string>

#include "core/layout/measured_kernel.h"

namespace heddle {

/// Wgmma's accumulator, of each 16 columns in another order.
inline constexpr const char* kRelabelledResult = "accumulator relabelled";

/// Of a value in shared memory, were it to lie like this.
std::string shared_objection(const MeasuredKernel& of, const LayoutPlan& plan, std::size_t v, const Layout& layout);
/// Of a value in registers, as the plan has it: tiles that one op reads and writes element by element lie alike, and vectors as the tiles
/// that they are laid over.
std::string register_objection(const MeasuredKernel& of, const LayoutPlan& plan, std::size_t v);

}  // namespace heddle
