// What threads do with tiles of which each of them has a row: reductions and masks need no other thread.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_row_reduction(EmitContext& emit, const Step& step, const TileOp& op);
void write_row_mask(EmitContext& emit, const Step& step, const TileOp& op);

}  // namespace heddle::codegen
