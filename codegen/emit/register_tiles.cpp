#include "codegen/emit/register_tiles.h"

#include <fmt/format.h>

#include "core/layout/known.h"

namespace heddle::codegen {
namespace {

/// A vector of one number per row or per column lies as the tiles do, which have `columns` where they are whole rows, without the other
/// dimension.
std::optional<Layout> usual_vector(TileKind kind, std::int64_t columns, bool rows, std::int64_t extent) {
  const auto across = [&](std::int64_t least) { return rows ? least : extent; };
  switch (kind) {
    case TileKind::Fragments:
      if (rows ? extent != 64 : extent % 8 != 0) return std::nullopt;
      return without_dimension(accumulator_layout(across(16)), rows ? 1 : 0);
    case TileKind::WarpRows:
      if (rows ? !fits_warp_rows(extent, columns) : extent != columns || columns % 8 != 0) return std::nullopt;
      return without_dimension(warp_rows_layout(rows ? extent : 128 / lanes_of_row(columns), columns), rows ? 1 : 0);
    case TileKind::ThreadRows:
      if (!rows || extent != 128) return std::nullopt;
      return without_dimension(thread_rows_layout(extent, across(16)), 1);
  }
  return std::nullopt;
}

/// What a thread has of a value, from its layout; or what is wrong with that.
std::string lay_out(TileKind kind, std::int64_t columns, const ValuePlan& plan, TiledValue& value) {
  if (!plan.layout) return plan.unknown.empty() ? "has a shape that is spread over threads in no known way" : plan.unknown;
  const Layout& from = *plan.layout;
  if (from.shape != value.shape) return fmt::format("lies as {}, which is of another shape", plan.text);
  const auto extent = [&](LayoutAxis axis) { return from.extent(axis); };
  if (from.in_memory() || extent(LayoutAxis::Lane) > 32 || extent(LayoutAxis::Warp) > 4)
    return fmt::format("lies as {}, which is not in the registers of four warps", plan.text);
  ThreadTile& layout = *(value.layout = ThreadTile());
  layout.elements = static_cast<int>(extent(LayoutAxis::Register));
  const bool tile = value.shape.size() == 2;
  if (tile) {
    layout.rows = value.shape[0], layout.cols = value.shape[1];
    layout.columns = kind == TileKind::WarpRows     ? static_cast<int>(layout.cols / lanes_of_row(layout.cols))
                     : kind == TileKind::ThreadRows ? layout.elements
                                                    : 0;
    const Layout usual = kind == TileKind::Fragments  ? accumulator_layout(layout.cols)
                         : kind == TileKind::WarpRows ? warp_rows_layout(layout.rows, layout.cols)
                                                      : thread_rows_layout(layout.rows, layout.cols);
    layout.usual = from == usual || same_places(from, usual);
    const auto other = kind == TileKind::Fragments ? relabelled(usual, 1) : std::nullopt;
    layout.usual_rows = layout.usual || (other && same_places(from, *other));
    return {};
  }
  // Rows are spread over warps, columns are not.
  LayoutPlace last;
  last[LayoutAxis::Warp] = extent(LayoutAxis::Warp) - 1;
  const auto element = element_at(from, last);
  const bool rows = element && (*element)[0] > 0;
  layout.kind = rows ? ThreadTile::Kind::Rows : ThreadTile::Kind::Columns;
  (rows ? layout.rows : layout.cols) = value.shape[0];
  const auto usual = usual_vector(kind, columns, rows, value.shape[0]);
  layout.usual = layout.usual_rows = usual && (from == *usual || same_places(from, *usual));
  return {};
}

}  // namespace

RegisterTiles tiles_in_registers(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const Program& program,
                                 std::vector<Refusal>& refusals) {
  RegisterTiles tiles;
  tiles.plan = problem.layouts;
  using Family = LayoutPlan::Family;
  const Family family = tiles.plan ? tiles.plan->family : Family::None;
  tiles.kind = family == Family::Products         ? TileKind::Fragments
               : family == Family::TensorProducts ? TileKind::ThreadRows
                                                  : TileKind::WarpRows;
  std::int64_t columns = 256;  // without mmas all tiles have the same
  for (const TileValue& v : kernel.values) {
    TiledValue& value = tiles.values.emplace_back();
    for (const Expr& extent : v.shape) value.shape.push_back(extent.evaluate(program.params).value());
    value.bits = bits_of(v.dtype);
    value.per_register = 32 / value.bits;
    value.packed = value.per_register > 1;
    if (v.space == Space::Register && value.shape.size() == 2) columns = value.shape[1];
  }
  tiles.lanes_of_row = static_cast<int>(lanes_of_row(columns));
  if (!tiles.plan || tiles.plan->values.size() != tiles.values.size()) {
    refusals.push_back({"layout", {}, "nothing is known of how values lie: the problem has no plan of its layouts", std::nullopt});
    return tiles;
  }
  if (!schedule.layouts.empty() && schedule.layouts != tiles.plan->choices) {
    refusals.push_back(
        {"layout", {}, "the schedule chooses layouts and instructions with which the problem was not resolved", std::nullopt});
    return tiles;
  }
  for (std::size_t i = 0; i < tiles.values.size(); ++i) {
    const TileValue& v = kernel.values[i];
    TiledValue& value = tiles.values[i];
    if (v.space != Space::Register) continue;
    const auto odd = [&](const std::string& what) {
      refusals.push_back({"layout", {}, fmt::format("'{}' {}", v.name, what), std::nullopt});
    };
    if (v.dtype == DType::I32) {
      odd("holds integers of 32 bits in registers; f32, and numbers of 16, 8 and 4 bits can be written");
      continue;
    }
    const std::string wrong = lay_out(tiles.kind, columns, tiles.plan->values[i], value);
    if (!wrong.empty()) odd(wrong);
    if (!value.layout) continue;
    const int elements = value.layout->elements;
    if (elements > 256) odd("takes more registers than a thread has");
    if (elements % value.per_register != 0 && value.shape.size() == 2)
      odd(fmt::format("has {} elements in a thread, which make no whole registers", elements));
    if (value.shape.size() == 1) {
      const std::int64_t words = (elements + value.per_register - 1) / value.per_register, share = (value.shape[0] + 127) / 128;
      const std::int64_t said = v.registers ? v.registers->evaluate(program.params).value() : share;
      if (said < words)
        odd(fmt::format("lies in {} registers of every thread, and its file says {} (\"registers\": {})", words, said, words));
    }
  }
  return tiles;
}

const Layout* RegisterTiles::layout_of(std::size_t value) const {
  return plan && value < plan->values.size() ? plan->values[value].layout.get() : nullptr;
}

std::optional<int> RegisterTiles::swizzle_of(std::size_t v) const {
  const Layout* layout = layout_of(v);
  if (!layout || layout->shape.size() != 2) return std::nullopt;
  return box_swizzle(*layout, values[v].bits);
}

bool RegisterTiles::has_relabelled_rows(std::size_t v) const {
  const Layout* layout = layout_of(v);
  return layout && relabelled_swizzle(*layout, values[v].bits);
}

bool RegisterTiles::lies_alike(std::size_t a, std::size_t b) const {
  const Layout *one = layout_of(a), *other = layout_of(b);
  return !one || !other || one == other || same_places(*one, *other);
}

std::string RegisterTiles::index_of_row(const ThreadTile& tile) const {
  switch (kind) {
    case TileKind::Fragments: return "(e >> 1) & 1";
    case TileKind::WarpRows: return fmt::format("e / {}", tile.columns);
    case TileKind::ThreadRows: break;
  }
  return "0";
}

}  // namespace heddle::codegen
