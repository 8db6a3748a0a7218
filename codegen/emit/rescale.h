// Tiles of tensor memory that are multiplied by a number per row and brought back: a warp of factors that are all one leaves them alone.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/context.h"

namespace heddle::codegen {

/// The steps from `first` on that bring a tile out of tensor memory, multiply it by numbers per row and bring it back; how many. None
/// where the mma is not said to be skippable.
std::size_t rescale_at(const EmitContext& emit, const Section& section, std::size_t first);
/// Two blocks, around what a warp of factors that are all one leaves out.
void open_rescale(EmitContext& emit, const Section& section, std::size_t first);
/// Ops that ask to be skipped, and nowhere are: refused, or, where another schedule would have them skipped, named.
std::vector<std::string> unskipped_ops(EmitContext& emit);

}  // namespace heddle::codegen
