// Inside the interpreter: a block, or a cluster of blocks, from its first step to its last, in an order that is drawn by lot.
#pragma once

#include <optional>

#include "codegen/interpret/state.h"

namespace heddle::codegen {

/// `data`: null: names only.
std::optional<ProgramFault> run_block(const Kernel& kernel, const Program& program, const Interleaving& how, TileData* data);

}  // namespace heddle::codegen
