// Tile instructions that a role's own threads execute: who writes which, and the writers that fill a file each.
#pragma once

#include "codegen/emit/context.h"

namespace heddle::codegen {

void write_compute(EmitContext& emit, const Step& step);

// Tiles that are spread over the lanes of their warp: wgmma's fragments, or whole rows per warp in kernels without mmas.

void write_reduction(EmitContext& emit, const Step& step, const TileOp& op);
void write_mask(EmitContext& emit, const Step& step, const TileOp& op);
/// A running sum over rows that only what comes after the loop reads: each thread keeps the part of its own columns, and
/// the parts are added up once, after the loop, before the step that reads them.
void finish_lazy_sums(EmitContext& emit, const Step& step);

// Tiles of which each thread has a row.

void write_row_reduction(EmitContext& emit, const Step& step, const TileOp& op);
void write_row_mask(EmitContext& emit, const Step& step, const TileOp& op);

// Others.

void write_map(EmitContext& emit, const Step& step, const TileOp& op);
/// Its results are powers, which are positive.
bool makes_powers(const TileOp& op);
void write_convert(EmitContext& emit, const Step& step, const TileOp& op);
void write_global_load(EmitContext& emit, const Step& step, const TileOp& op);
/// Of one f32 number per row or column, or of a tile of 16 or 32 bits.
void write_global_store(EmitContext& emit, const Step& step, const TileOp& op);

}  // namespace heddle::codegen
