// Where the elements of a tile lie in a tensor in global memory, as text, for who reads or writes it thread by thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/context.h"

namespace heddle::codegen {

/// Where a tile lies in a tensor, outermost dimension first: its first element, an element's offset as text of `row` and `column`, and
/// what must hold where it can reach over the end.
struct GlobalTile {
  std::vector<std::string> at;
  std::string offset, inside;
};

/// The number of the tensor that it loads.
std::size_t tensor_of(const EmitContext& emit, const TileOp& op);
/// `by_row`: a number per row; else `width` columns at once begin at multiples of that. Refuses what lies otherwise.
std::optional<GlobalTile> global_tile(EmitContext& emit, const Step& step, const TileOp& op, bool by_row, std::int64_t width);

}  // namespace heddle::codegen
