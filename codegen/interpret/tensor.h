// Tensor memory and tcgen05 (PTX ISA, tcgen05 family): mmas that one thread issues and that end at any later moment, in order; signals
// behind them; loads and stores by four warps, the fences and waits around them.
#pragma once

#include "codegen/interpret/state.h"

namespace heddle::codegen {

/// tcgen05 instructions do not see what the role has waited for without a fence.
bool has_fenced(BlockState& state, const Flat& flat);
void store_columns(BlockState& state, const Flat& flat, const Place& place, const Array& array);
void note_loads(BlockState& state, const Flat& flat);
/// Loads, or else stores.
void await_own(BlockState& state, std::size_t role, bool reads);
void fence_before(BlockState& state, std::size_t role);

void issue_product(BlockState& state, const Flat& flat);
/// Of an mma, or of a signal behind it.
void complete_product(BlockState& state, std::size_t role, const Async& async);

}  // namespace heddle::codegen
