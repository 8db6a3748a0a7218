#include "core/problem/single_rows.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/saturate.h"
#include "core/kernel/op_kind.h"

namespace heddle {
namespace {

constexpr std::int64_t kBlocks = 1000;
constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio: places that keep apart from each other

}  // namespace

std::int64_t single_rows(const Kernel& kernel, const TileOp& op, const Scope& params) {
  const std::optional<Expr> end = end_of_rows(op);
  const TileValue* tile = end && !op.inputs.empty() ? kernel.find_value(op.inputs[0].value) : nullptr;
  if (!tile || tile->shape.empty() || op.at.size() < tile->shape.size()) return 0;
  const auto rows = tile->shape[0].evaluate(params);
  const Expr& first = op.at[op.at.size() - tile->shape.size()];
  Scope scope = params;
  scope[kernel.loop.variable] = 0;
  std::vector<std::int64_t> grid;
  std::int64_t blocks = 1;
  for (const GridDim& dim : kernel.grid) {
    const auto size = dim.size.evaluate(params);
    if (!size.ok() || *size < 1) return 0;
    grid.push_back(*size);
    blocks = sat_mul(blocks, *size);
  }
  const std::int64_t looked_at = std::min(blocks, kBlocks);
  std::int64_t single = 0;
  for (std::int64_t b = 0; b < looked_at; ++b) {
    auto rest = static_cast<std::uint64_t>(b);
    if (blocks > kBlocks) rest = rest * kStep % static_cast<std::uint64_t>(blocks);
    for (std::size_t d = 0; d < grid.size(); ++d) {
      scope[kernel.grid[d].name] = static_cast<std::int64_t>(rest % static_cast<std::uint64_t>(grid[d]));
      rest /= static_cast<std::uint64_t>(grid[d]);
    }
    const auto at = first.evaluate(scope), before = end->evaluate(scope);
    if (!rows.ok() || !at.ok() || !before.ok()) return 0;
    if (*before > *at && *before - *at < *rows) single += *before - *at;
  }
  return sat_mul(single, 1000) / looked_at;
}

}  // namespace heddle
