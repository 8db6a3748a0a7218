// What threads do with tiles that are spread over the lanes of their warp: reductions by shuffles, and masks. Tiles are wgmma's fragments,
// or whole rows per warp in kernels without mmas.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_reduction(EmitContext& emit, const Step& step, const TileOp& op);
void write_mask(EmitContext& emit, const Step& step, const TileOp& op);
/// A running sum over rows that only what comes after the loop reads: each thread keeps the part of its own columns, and
/// the parts are added up once, after the loop, before the step that reads them.
void finish_lazy_sums(EmitContext& emit, const Step& step);

}  // namespace heddle::codegen
