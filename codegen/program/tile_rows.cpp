#include "codegen/program/tile_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/plan.h"

namespace heddle::codegen {
namespace {

/// A wgmma has 64 rows; lanes of tensor memory, and threads of a warpgroup, are 128.
constexpr std::int64_t kRowsOfProduct = 64, kRowsOfTensorMemory = 128;

}  // namespace

std::optional<WideTile> wide_tile(const Kernel& kernel, const Problem& problem) {
  const std::int64_t most = problem.arch.starts_with("sm_10") ? kRowsOfTensorMemory : kRowsOfProduct;
  if (std::none_of(kernel.body.begin(), kernel.body.end(), [](const TileOp& op) { return op.kind == "mma"; })) return std::nullopt;
  for (const TileValue& value : kernel.values) {
    if (value.space != Space::Register || value.shape.size() != 2) continue;
    const auto rows = value.shape[0].evaluate(problem.params);
    const auto index = static_cast<std::size_t>(&value - kernel.values.data());
    if (!rows.ok() || *rows <= most || (problem.layouts && problem.layouts->values[index].layout)) continue;
    WideTile tile{value.name, *rows, most, {}};
    const auto names = value.shape[0].names();
    if (names.size() == 1 && *rows % most == 0) tile.cut = Subtile{names[0], *rows / most};
    return tile;
  }
  return std::nullopt;
}

std::string sentence_of(const WideTile& tile) {
  std::string text = fmt::format("'{}' has {} rows in registers; a warpgroup holds {}", tile.value, tile.rows, tile.most);
  if (tile.cut) text += fmt::format(": cut {0} into {1} parts (on the command line --subtile {0}={1})", tile.cut->param, tile.cut->factor);
  return text;
}

}  // namespace heddle::codegen
