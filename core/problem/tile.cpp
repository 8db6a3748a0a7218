// Shapes of tiles, and the names that cost rules may use.
#include "core/problem/tile.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"

namespace heddle {
namespace {

bool flag(const TileOp& op, const char* name) {
  const auto it = op.attrs.find(name);
  return it != op.attrs.end() && std::holds_alternative<bool>(it->second) && std::get<bool>(it->second);
}

}  // namespace

std::optional<Tile> measure(const TileValue& value, const Scope& params, const Place& place, FaultLog& faults) {
  Tile tile;
  tile.space = value.space;
  tile.bits = bits_of(value.dtype);
  bool good = true;
  for (std::size_t i = 0; i < value.shape.size(); ++i) {
    const auto extent =
        faults.number(value.shape[i], params, {1, kAbsurd}, {place.file, fmt::format("{}/shape/{}", place.pointer, i)},
                      fmt::format("extent {} of value '{}'", i, value.name));
    if (!extent) {
      good = false;
      continue;
    }
    // A single extent is a column, so that row statistics are [rows].
    if (i == 0 || i + 1 < value.shape.size())
      tile.rows = sat_mul(tile.rows, *extent);
    else
      tile.cols = *extent;
  }
  if (!good) return std::nullopt;
  tile.elems = sat_mul(tile.rows, tile.cols);
  const std::int64_t bits = sat_mul(tile.elems, tile.bits);
  if (bits > 8 * kAbsurd) {
    faults.add({place.file, place.pointer + "/shape"},
               fmt::format("value '{}' has {} x {} elements of {} bits; no tile is larger than 2 GiB", value.name,
                           tile.rows, tile.cols, tile.bits));
    return std::nullopt;
  }
  tile.bytes = ceil_div(bits, 8);
  tile.columns = ceil_div(tile.rows, 128) * ceil_div(tile.cols * tile.bits, 32);
  return tile;
}

std::int64_t registers_per_thread(const Tile& tile, std::int64_t threads) {
  return std::max<std::int64_t>(1, ceil_div(tile.elems * tile.bits, 32 * threads));
}

std::optional<MmaShape> mma_shape(const TileOp& op, const std::vector<const Tile*>& inputs,
                                  const std::vector<const Tile*>& outputs, const Place& place, FaultLog& faults) {
  HEDDLE_ASSERT(inputs.size() >= 2 && !outputs.empty(), "the arity of a valid kernel's ops is right");
  const Tile &a = *inputs[0], &b = *inputs[1], &d = *outputs[0];
  const bool ta = flag(op, "transpose_a"), tb = flag(op, "transpose_b");
  const std::int64_t k_of_b = tb ? b.cols : b.rows, columns_of_b = tb ? b.rows : b.cols;
  // With attribute `column` D may be narrower than B: it takes the columns from there on.
  const auto column = op.attrs.find("column");
  const auto* first = column == op.attrs.end() ? nullptr : std::get_if<std::int64_t>(&column->second);
  const MmaShape shape{ta ? a.cols : a.rows, first ? d.cols : columns_of_b, ta ? a.rows : a.cols};
  bool good = true;
  if (first && (*first < 0 || *first > columns_of_b - shape.n)) {
    faults.add(place, fmt::format("mma '{}': columns {} to {} of B, which has {}", op.name, *first,
                                  sat_add(*first, shape.n - 1), columns_of_b));
    good = false;
  }
  if (k_of_b != shape.k) {
    faults.add(place, fmt::format("mma '{}': A gives K = {}, B gives K = {}", op.name, shape.k, k_of_b),
               "A is [M,K] (transpose_a: [K,M]), B is [K,N] (transpose_b: [N,K])");
    good = false;
  }
  const auto match = [&](const Tile& tile, const char* role) {
    if (tile.rows == shape.m && tile.cols == shape.n) return;
    faults.add(place, fmt::format("mma '{}': {} is {} x {}, expected M x N = {} x {}", op.name, role, tile.rows,
                                  tile.cols, shape.m, shape.n));
    good = false;
  };
  match(d, "the output");
  if (inputs.size() > 2) match(*inputs[2], "the accumulator");
  if (!good) return std::nullopt;
  return shape;
}

}  // namespace heddle
