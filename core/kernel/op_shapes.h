// Which shapes of operands and results a tile instruction takes: one rule, for the reader of kernel files and for the executor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/kernel.h"

namespace heddle {

using TileShape = std::vector<std::int64_t>;

/// "64x128"; "scalar" without any dimension.
std::string shape_text(const TileShape& shape);

struct ShapeFault {
  std::string where;    ///< inside the op: "/in/1", "/out/0", or empty for the op itself
  std::string message;  ///< what was found and what was expected
  std::string hint;     ///< may be empty
};

/// All that does not fit. `inputs` has as many shapes as the op has operands and `result` is null for ops that define nothing, both as the
/// catalogue wants it (core/kernel/op_kind.h); `rank` is that of the global tensor, for kinds that touch one. Kinds without a rule fit
/// always.
std::vector<ShapeFault> shape_faults(const TileOp& op, std::span<const TileShape* const> inputs, const TileShape* result,
                                     std::optional<std::size_t> rank = {});

// How a tile is seen: rows x columns, columns being its last dimension.
std::int64_t columns_of(const TileShape& shape);

/// How an operand lies over a result: element by element, one element for all, or a vector along a dimension.
enum class Lay { Same, One, AlongRows, AlongColumns };
/// Nothing where it does not; `axis` is the dimension that a vector runs along.
std::optional<Lay> lay_over(const TileShape& operand, const TileShape& result, std::int64_t axis);

/// How input `k` of a `map` lies over its result: as attribute `along` says, else as the shapes do. Nothing where it does not, or where
/// only `along` could tell (a vector over a square tile).
std::optional<Lay> map_lay(const TileOp& op, std::size_t k, const TileShape& operand, const TileShape& result);

/// reduce_max, reduce_sum and the others: a tile's axis goes.
bool is_reduction(std::string_view kind);

/// An attribute that is a whole number.
std::int64_t integer_attr(const TileOp& op, const char* name, std::int64_t fallback);
/// An attribute that is true.
bool flag_attr(const TileOp& op, const char* name);
/// An attribute that is a text; empty without it.
std::string text_attr(const TileOp& op, const char* name);

}  // namespace heddle
