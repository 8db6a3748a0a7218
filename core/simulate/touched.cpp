#include "core/simulate/touched.h"

#include <algorithm>
#include <unordered_set>

#include "core/base/hash.h"
#include "core/base/saturate.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostBoxes = 2'000'000;

}  // namespace

std::optional<std::int64_t> touched_elements(const Kernel& kernel, const Scope& params, const TileGrid& grid, const Tensor& tensor) {
  std::vector<std::string> variables;
  std::vector<std::int64_t> sizes, extents;
  for (const GridDim& dimension : kernel.grid) {
    variables.push_back(dimension.name);
    const auto size = dimension.size.evaluate(params);
    sizes.push_back(size ? std::max<std::int64_t>(1, *size) : 1);
  }
  variables.push_back(kernel.loop.variable);
  for (const Expr& extent : tensor.shape) {
    const auto size = extent.evaluate(params);
    if (!size) return std::nullopt;
    extents.push_back(*size);
  }
  struct Move {
    std::vector<BoundExpr> at;
    std::vector<std::int64_t> box;
    bool in_loop = false;
  };
  std::vector<Move> moves;
  bool looks_up = false;
  for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (const TileOp& op : *list) {
      if (op.tensor != tensor.name || op.at.size() != extents.size()) continue;
      const TileValue* tile = op.outputs.empty() ? kernel.find_value(op.inputs.front().value) : kernel.find_value(op.outputs.front());
      if (!tile || op.kind == "gather") return std::nullopt;
      Move move{{}, std::vector<std::int64_t>(extents.size(), 1), list == &kernel.body};
      for (const Expr& at : op.at) move.at.emplace_back(at, params, variables), looks_up = looks_up || !at.tables().empty();
      for (std::size_t d = 0; d < tile->shape.size() && d < extents.size(); ++d)
        if (const auto extent = tile->shape[tile->shape.size() - 1 - d].evaluate(params)) move.box[extents.size() - 1 - d] = *extent;
      moves.push_back(std::move(move));
    }
  if (!looks_up || sat_mul(std::max(grid.all_trips(), grid.tiles), static_cast<std::int64_t>(moves.size())) > kMostBoxes)
    return std::nullopt;
  std::unordered_set<std::uint64_t> seen;
  std::int64_t touched = 0;
  std::vector<std::int64_t> position(variables.size(), 0);
  const auto touch = [&](const Move& move) {
    std::int64_t elements = 1;
    Hash hash;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const auto at = move.at[d].evaluate(position);
      if (!at) return;
      const std::int64_t begin = std::clamp<std::int64_t>(*at, 0, extents[d]),
                         end = std::clamp(sat_add(*at, move.box[d]), begin, extents[d]);
      elements = sat_mul(elements, end - begin);
      hash.add(begin).add(end);
    }
    if (elements > 0 && seen.insert(hash.value()).second) touched = sat_add(touched, elements);
  };
  for (std::int64_t tile = 0; tile < grid.tiles; ++tile) {
    const std::int64_t trips = grid.even() ? grid.trips : grid.by_tile[static_cast<std::size_t>(tile)];
    for (const Move& move : moves)
      for (std::int64_t i = 0; i < (move.in_loop ? trips : 1); ++i) position.back() = i, touch(move);
    for (std::size_t d = 0; d < sizes.size() && ++position[d] == sizes[d]; ++d) position[d] = 0;
  }
  std::int64_t all = 1;
  for (const std::int64_t extent : extents) all = sat_mul(all, extent);
  return std::min(all, touched);
}

}  // namespace heddle
