// Coordinates and trips as text: sums of multiples of the block's and the loop's indices, and whatever else expressions can say,
// look-ups in index tensors above all. A look-up is a load by the thread that needs it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/context.h"
#include "core/base/expr_node.h"

namespace heddle::codegen {

/// Nothing where the text cannot say it. `texts` stand for the variables; none needs parentheses. Pre: index tensors are in the params.
std::optional<std::string> index_text(EmitContext& emit, const Expr::Node& node, const std::vector<std::string>& variables,
                                      const std::vector<std::string>& texts);
/// Trips of the tile with these indices in the grid, before they are held to the program's bounds.
std::optional<std::string> trips_text(EmitContext& emit, const std::vector<std::string>& indices);

}  // namespace heddle::codegen
