#include "core/layout/packed_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/json.h"
#include "core/base/saturate.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/packed.h"

namespace heddle {
namespace {

/// Why its tiles do not lie packed; empty: they can.
std::string packing_objection(const MeasuredKernel& of, const Tensor& tensor) {
  constexpr std::int64_t kMostRows = 256;  // of a box of TMA, of 128 bytes each
  if (!of.products()) return "it is for wgmma that tensors are packed";
  const std::int64_t width = packed_columns(bits_of(tensor.dtype));
  const std::size_t rank = tensor.shape.size();
  if (rank < 2 || rank > 3) return "it has neither two nor three dimensions";
  const auto whole = [&](const Expr& extent, std::int64_t multiple) {
    const auto found = extent.evaluate(of.params);
    return found.ok() && *found > 0 && *found % multiple == 0;
  };
  if (!whole(tensor.shape[rank - 2], kPackedRows) || !whole(tensor.shape.back(), width))
    return fmt::format("its rows are no multiple of {}, or its columns none of {}", kPackedRows, width);
  std::vector<std::string> indices = names_of(of.kernel.grid);
  indices.push_back(of.kernel.loop.variable);
  const auto begins_at = [&](const Expr& at, std::int64_t multiple) {
    const auto place = at.affine(of.params, indices);
    return place && place->constant % multiple == 0 &&
           std::all_of(place->coefficients.begin(), place->coefficients.end(), [&](std::int64_t c) { return c % multiple == 0; });
  };
  std::set<std::string_view> tiles;
  for (const TileOp& op : of.ops) {
    if (op.tensor != tensor.name || !is_copy(op)) continue;
    const std::vector<std::int64_t>& tile = of.shapes[of.index_of(tile_of_copy(op))];
    tiles.insert(tile_of_copy(op));
    if (tile.size() != 2 || tile[0] != kPackedRows || tile[1] % width != 0)
      return fmt::format("'{}' moves a tile of {}, and blocks have {} rows and {} columns", printable(op.name), shape_text(tile),
                         kPackedRows, width);
    if (sat_mul(tile[0], tile[1]) * bits_of(tensor.dtype) / 8 > kMostRows * kPackedBytes * 8)
      return fmt::format("'{}' moves a tile that is too large for a box", printable(op.name));
    if (!begins_at(op.at[rank - 2], kPackedRows) || !begins_at(op.at.back(), width))
      return fmt::format("'{}' does not begin at whole blocks of {} rows and {} columns in every tile and trip", printable(op.name),
                         kPackedRows, width);
  }
  for (const TileOp& op : of.ops) {
    const auto uses = [&](std::string_view name) { return tiles.contains(name); };
    const bool used = std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return uses(in.value); }) ||
                      std::any_of(op.outputs.begin(), op.outputs.end(), uses);
    const bool ours = is_copy(op) && op.tensor == tensor.name, threads = op.kind == "smem_load" || op.kind == "smem_store";
    if (used && !ours && !threads) return fmt::format("{} has a tile of it, too", of.asker(op));
  }
  return {};
}

}  // namespace

std::vector<std::string> orders_of(const Tensor& tensor) {
  std::vector<std::string> orders{std::string(kNaturalOrder)};
  if (tensor.packing == Packing::Free) orders.emplace_back(kPrepackedOrder);
  if (tensor.packing == Packing::Free && tensor.dtype == DType::F32) orders.emplace_back(kPrepackedLines);
  return orders;
}

PackedTensors find_packed(const MeasuredKernel& of, const LayoutChoices& choices, std::vector<Fault>& faults) {
  PackedTensors packed;
  for (const Tensor& tensor : of.kernel.tensors) {
    if (tensor.packing == Packing::Packed) packed.emplace(tensor.name, PackedOrder::Threads);
    if (tensor.packing != Packing::Free) continue;
    const auto said = choices.layouts.find(tensor.name);
    if (said == choices.layouts.end() || said->second == kNaturalOrder) continue;
    const std::string pointer = pointer_to("/layouts", tensor.name);
    const bool lines = said->second == kPrepackedLines && tensor.dtype == DType::F32;
    if (said->second != kPrepackedOrder && !lines)
      faults.push_back({{},
                        pointer,
                        fmt::format("the tensor '{}' cannot be ordered as \"{}\"", tensor.name, printable(said->second)),
                        fmt::format("it is {}", list_of(orders_of(tensor)))});
    else if (std::string why = packing_objection(of, tensor); !why.empty())
      faults.push_back({{}, pointer, fmt::format("the tensor '{}' cannot be prepacked: {}", tensor.name, why), {}});
    else
      packed.emplace(tensor.name, lines ? PackedOrder::Lines : PackedOrder::Threads);
  }
  return packed;
}

std::optional<PackedOrder> packed_order(const MeasuredKernel& of, const PackedTensors& packed, std::size_t v) {
  if (packed.empty() || (of.value(v).space == Space::Register && of.bits(v) != 4)) return std::nullopt;
  std::string_view name = of.value(v).name;
  for (const TileOp& op : of.ops)
    if (op.kind == "smem_load" && !op.outputs.empty() && op.outputs[0] == name) name = op.inputs[0].value;
  for (const TileOp& op : of.ops)
    if (const auto found = packed.find(op.tensor); is_copy(op) && found != packed.end() && tile_of_copy(op) == name) return found->second;
  return std::nullopt;
}

}  // namespace heddle
