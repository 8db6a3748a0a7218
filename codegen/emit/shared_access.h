// How threads store tiles to shared memory and load them, as their layouts say. Which layout a value has and which instruction an op, says
// the plan (core/layout/plan.h); nothing is decided here.
#pragma once

#include <string>

#include "codegen/emit/context.h"

namespace heddle::codegen {

/// Registers of a tile to its place in shared memory, or back.
void write_access(EmitContext& emit, const Step& step, const TileOp& op, bool store);
/// From the registers `from` to `to`, which lie as the plan's two accesses of the op say: other warps have what they need.
void write_through_scratch(EmitContext& emit, const Step& step, const TileOp& op, const std::string& from, const std::string& to);

}  // namespace heddle::codegen
