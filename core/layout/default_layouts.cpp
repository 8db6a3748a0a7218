#include "core/layout/default_layouts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturate.h"
#include "core/kernel/op_shapes.h"
#include "core/layout/known.h"
#include "core/layout/layout_store.h"

namespace heddle {
namespace {

constexpr const char* kUnknownShape = "has a shape that is spread over threads in no known way";
constexpr const char* kUnpackable = "is of a prepacked tensor, and is no tile of 64 rows and whole blocks of columns";

ValuePlan unknown(std::string why) { return {nullptr, {}, false, std::move(why)}; }
ValuePlan lies(const LayoutKey& key, const char* otherwise) {
  const auto stored = stored_layout(key);
  return stored ? ValuePlan{stored->layout, stored->text, false, {}} : unknown(otherwise);
}

/// Of what a transposing load makes, and of what a copy makes of that.
std::optional<LayoutForm> quads_of(const MeasuredKernel& of, std::size_t v) {
  const auto maker_of = [&](std::string_view name) -> const TileOp* {
    for (const TileOp& op : of.ops)
      if (!op.outputs.empty() && op.outputs[0] == name) return &op;
    return nullptr;
  };
  const auto turns = [](const TileOp* op) { return op && op->kind == "smem_load" && flag_attr(*op, "transpose"); };
  const TileOp* maker = maker_of(of.value(v).name);
  if (turns(maker)) return LayoutForm::QuadsDown;
  if (maker && maker->kind == "copy" && turns(maker_of(maker->inputs[0].value))) return LayoutForm::QuadsAcross;
  return std::nullopt;
}

ValuePlan in_registers(const MeasuredKernel& of, const PackedTensors& packed, std::size_t v) {
  const std::vector<std::int64_t>& shape = of.shapes[v];
  const bool tile = shape.size() == 2;
  // Extents are positive: the resolver has measured them.
  switch (of.family) {
    case LayoutPlan::Family::Products: {
      if (tile && packed_order(of, packed, v)) return lies({LayoutForm::PackedOperand, shape[0], shape[1], of.bits(v)}, kUnpackable);
      if (const auto quads = tile && of.bits(v) == 8 ? quads_of(of, v) : std::nullopt)
        return lies({*quads, shape[0], shape[1], 8}, "is transposed, and its rows or columns are no multiple of 128");
      if (tile) {
        if (shape[0] != 64 || shape[1] % 16 != 0 || shape[1] > 256)
          return unknown("is no tile of 64 rows and 16 to 256 columns, as one warpgroup holds");
        const bool narrow_a = of.bits(v) == 8 && std::any_of(of.kernel.body.begin(), of.kernel.body.end(), [&](const TileOp& op) {
                                return op.kind == "mma" && op.inputs[0].value == of.value(v).name;
                              });
        return lies({narrow_a && shape[1] % 32 == 0 ? LayoutForm::Operand : LayoutForm::Accumulator, 64, shape[1], of.bits(v)},
                    kUnknownShape);
      }
      if (shape[0] % 8 == 0 && of.along_columns(v)) return lies({LayoutForm::Accumulator, 64, shape[0], of.bits(v), 0, 0}, kUnknownShape);
      if (shape[0] == 64) return lies({LayoutForm::Accumulator, 64, 16, of.bits(v), 0, 1}, kUnknownShape);
      break;
    }
    case LayoutPlan::Family::Rows:
      if (tile) {
        if (shape[0] != of.rows || shape[1] != of.columns) return unknown("does not have the rows and columns of the kernel's other tiles");
        if (of.columns % 8 != 0) return unknown("has rows of columns that are no multiple of 8");
        if (!fits_warp_rows(of.rows, of.columns))
          return unknown(fmt::format("has rows of {} columns, of which four warps hold {} at a time, and they are no multiple of that",
                                     of.columns, 128 / lanes_of_row(of.columns)));
        return lies({LayoutForm::WarpRows, of.rows, of.columns, of.bits(v)}, kUnknownShape);
      }
      if (!fits_warp_rows(of.rows, of.columns)) break;
      if (shape[0] == of.rows) return lies({LayoutForm::WarpRows, of.rows, of.columns, of.bits(v), 0, 1}, kUnknownShape);
      if (shape[0] == of.columns) return lies({LayoutForm::WarpRows, of.rows, of.columns, of.bits(v), 0, 0}, kUnknownShape);
      break;
    case LayoutPlan::Family::TensorProducts:
      if (tile) {
        if (shape[0] != 128 || shape[1] % 16 != 0 || shape[1] > 256)
          return unknown("is no tile of 128 rows and 16 to 256 columns, a row for each thread of a warpgroup");
        return lies({LayoutForm::ThreadRows, 128, shape[1], of.bits(v)}, kUnknownShape);
      }
      if (of.along_columns(v))
        return unknown("is one number per column in registers, where each thread has a row: it can be in shared memory");
      if (shape[0] == 128) return lies({LayoutForm::ThreadRows, 128, 16, of.bits(v), 0, 1}, kUnknownShape);
      break;
    case LayoutPlan::Family::None: break;
  }
  return unknown(kUnknownShape);
}

ValuePlan in_shared_memory(const MeasuredKernel& of, const PackedTensors& packed, std::size_t v) {
  const std::vector<std::int64_t>& shape = of.shapes[v];
  if (shape.size() == 1) return lies({LayoutForm::Vector, 1, shape[0], of.bits(v)}, kUnknownShape);
  if (const auto order = packed_order(of, packed, v))
    return lies({LayoutForm::Packed, shape[0], shape[1], of.bits(v), *order == PackedOrder::Lines ? 1 : 0}, kUnpackable);
  const bool panels = of.family != LayoutPlan::Family::Rows;
  // Panels of 128 bytes for products and their swizzle, narrower where a row has just 64 or 32 bytes; else rows as wide as a box may be.
  return lies({LayoutForm::Panels, shape[0], shape[1], of.bits(v), panels ? of.usual_span(v) : 0},
              panels ? "is no whole panels of 128 bytes" : "is no whole panels of 256 columns");
}

}  // namespace

std::vector<ValuePlan> default_layouts(const MeasuredKernel& of, const PackedTensors& packed) {
  std::vector<ValuePlan> values(of.kernel.values.size());
  for (std::size_t v = 0; v < values.size(); ++v) {
    ValuePlan& out = values[v];
    std::int64_t elements = 1;
    for (const std::int64_t extent : of.shapes[v]) elements = sat_mul(elements, extent);
    if (of.family == LayoutPlan::Family::None)
      out.unknown = "is of a machine that no kernel is written for";
    else if (of.value(v).space == Space::Tmem)
      out.unknown = "lies in tensor memory";
    else if (of.value(v).space == Space::Global)
      out.unknown = "lies in global memory";
    else if (of.shapes[v].size() != 1 && of.shapes[v].size() != 2)
      out.unknown = kUnknownShape;
    else if (elements > kMostLayoutElements)
      out.unknown = fmt::format("has more than {} elements", kMostLayoutElements);
    else if (of.value(v).space == Space::Register)
      out = in_registers(of, packed, v);
    else
      out = in_shared_memory(of, packed, v);
  }
  return values;
}

}  // namespace heddle
