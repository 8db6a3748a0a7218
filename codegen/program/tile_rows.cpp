#include "codegen/program/tile_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::codegen {
namespace {

constexpr std::int64_t kRowsOfWarpgroup = 64;

}  // namespace

std::optional<WideTile> wide_tile(const Kernel& kernel, const Scope& params) {
  if (std::none_of(kernel.body.begin(), kernel.body.end(), [](const TileOp& op) { return op.kind == "mma"; })) return std::nullopt;
  for (const TileValue& value : kernel.values) {
    if (value.space != Space::Register || value.shape.size() != 2) continue;
    const auto rows = value.shape[0].evaluate(params);
    if (!rows.ok() || *rows <= kRowsOfWarpgroup) continue;
    WideTile tile{value.name, *rows, {}};
    const auto names = value.shape[0].names();
    if (names.size() == 1 && *rows % kRowsOfWarpgroup == 0) tile.cut = Subtile{names[0], *rows / kRowsOfWarpgroup};
    return tile;
  }
  return std::nullopt;
}

std::string sentence_of(const WideTile& tile) {
  std::string text = fmt::format("'{}' has {} rows in registers; a warpgroup holds {}", tile.value, tile.rows, kRowsOfWarpgroup);
  if (tile.cut) text += fmt::format(": cut {0} into {1} parts (on the command line --subtile {0}={1})", tile.cut->param, tile.cut->factor);
  return text;
}

}  // namespace heddle::codegen
