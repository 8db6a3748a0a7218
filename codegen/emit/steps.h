// A step of a role as text: barriers, turns and waits are written here, loads, stores, mmas and what threads compute by whoever is
// named after them.
#pragma once

#include <string>

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_step(EmitContext& emit, const Step& step);

bool writes_shared(const EmitContext& emit, const Step& step);
/// In every pass, so that what was written before is behind it.
bool meets(const Step& step);
/// All threads of the role wait for each other.
std::string meeting(EmitContext& emit, const TileOp& op);
/// Of a pair's barriers: of the first block's, since a role with mmas waits for it.
bool is_leaders(const EmitContext& emit, std::size_t barrier);
/// The prologue fills it with zeros.
bool is_zero_fill(const EmitContext& emit, std::size_t value);

}  // namespace heddle::codegen
