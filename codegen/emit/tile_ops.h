// Tile instructions that a role's own threads execute: who writes which.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_compute(EmitContext& emit, const Step& step);

}  // namespace heddle::codegen
