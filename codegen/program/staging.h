// Results on their way to the store: whole, panel by panel, or where a tile of the prologue lay, as the draft's Staging says.
#pragma once

#include <vector>

#include "codegen/program/draft.h"

namespace heddle::codegen {

/// Which tiles of the prologue hold a result at the end of a tile; before anything is released.
void overlay_tiles(ProgramDraft& draft);
/// Tiles of the prologue that only mmas of this role read: panels of its results may lie there when those are over.
std::vector<std::size_t> tiles_to_overlay(const ProgramDraft& draft, std::size_t role);

/// An op after the loop whose result is a tile in registers: on Blackwell it is done piece by piece on its way to the store.
bool works_on_tile(const ProgramDraft& draft, std::size_t epilogue_op);
/// In how many pieces an epilogue op's result goes through shared memory, and the one store that takes it there.
struct Pieces {
  int count = 1, rooms = 1;
  std::size_t store = kNone;
};
Pieces pieces_of(const ProgramDraft& draft, std::size_t epilogue_op);
void store_in_pieces(ProgramDraft& draft, std::size_t epilogue_op, const Pieces& pieces, Step stage);
/// Out of tensor memory, with what works on the tile on its way (works_on_tile).
void store_tile(ProgramDraft& draft, std::size_t epilogue_op, Step stage);
Buffer room_for(const ProgramDraft& draft, std::size_t value, int pieces);

}  // namespace heddle::codegen
