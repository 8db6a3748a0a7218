// What every kind of tile instruction computes: one function per kind. The element type of a result is applied by the
// caller; the functions compute in float.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expr.h"
#include "core/base/result.h"
#include "core/kernel/array.h"
#include "core/kernel/kernel.h"

namespace heddle {

/// One tile instruction with its operands at hand.
struct OpCall {
  const TileOp* op = nullptr;
  std::span<const Array* const> inputs;
  Array* output = nullptr;                ///< shape set, old contents meaningless; null for stores
  GlobalTensor* tensor = nullptr;         ///< for memory kinds
  std::span<const std::int64_t> at;       ///< the tile's first element in the tensor, one number per tensor dimension; mask: row, column
  const std::stop_token* stop = nullptr;  ///< once requested, a long op returns soon and its result means nothing; may be null
  std::span<const std::int64_t> rows{};   ///< of a gather without an index
  std::optional<std::int64_t> before{};   ///< of a store: the tensor's rows from this one on are left as they are
};

/// Does it. The text says what does not fit (shapes, by the rule of core/kernel/op_shapes.h; attributes), without naming the op; empty when
/// all went well.
using OpFunction = std::string (*)(const OpCall&);

/// nullptr when the kind is unknown or cannot be executed ("opaque").
OpFunction find_op_function(std::string_view kind);

/// The rows that a gather without an index brings into a tile of so many: its first coordinate for each `row`. The scope is as it was
/// afterwards. Faults: of the expression.
Result<std::vector<std::int64_t>> looked_up_rows(const TileOp& op, std::int64_t rows, Scope& scope);

/// Multiply-adds, or elements touched for kinds that have none: what execution costs. Never less than 1; saturates.
std::int64_t work_of(const TileOp& op, std::span<const std::vector<std::int64_t>> input_shapes,
                     const std::vector<std::int64_t>& output_shape);

}  // namespace heddle
