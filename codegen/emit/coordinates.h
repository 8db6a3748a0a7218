// Where steps read and write in tensors: coordinates of the block's and the loop's indices, as text.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/context.h"
#include "core/kernel/packed.h"

namespace heddle::codegen {

/// Bytes of a row as boxes move blocks of packed tensors; so many rows are a block.
inline constexpr int kPackedRow = 128, kRowsOfBlock = static_cast<int>(kPackedBytes) * 128 / kPackedRow;

/// Coordinates innermost first. Those that are looked up are lines of their own before.
std::vector<std::string> coordinates(EmitContext& emit, OpRef::List list, std::int64_t iteration, const TileOp& op);
std::vector<std::string> coordinates(EmitContext& emit, const Step& step, const TileOp& op);
/// A row of a tensor, from which on a store leaves it as it is.
std::string row_text(EmitContext& emit, const Step& step, const TileOp& op, const Expr& row);
/// Of a load's box: the first one is rounded down where the step says so.
std::vector<std::string> box_coordinates(EmitContext& emit, const Step& step, const TileOp& op);
/// The same of a box whose rows are relabelled, as the box's map splits them (tma.h).
std::vector<std::string> relabelled_coordinates(EmitContext& emit, const TileOp& op, const std::vector<std::string>& at);
/// "x + panel offset, y, z"
std::string with_panel(const std::vector<std::string>& at, int offset);
/// Where what a step reads begins in its slot: behind its neighbours, if its load brings them along.
std::string value_text(EmitContext& emit, const Place& place);

}  // namespace heddle::codegen
