// The expression of a map, element by element: the same text wherever a tile lies; where an element stands in its tile depends on that.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_map(EmitContext& emit, const Step& step, const TileOp& op);
/// Its results are powers, which are positive.
bool makes_powers(const TileOp& op);

}  // namespace heddle::codegen
