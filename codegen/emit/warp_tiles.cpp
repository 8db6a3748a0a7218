// What threads do with tiles that are spread over the lanes of their warp: reductions by shuffles, and masks. Tiles are wgmma's fragments,
// or whole rows per warp in kernels without mmas.
#include <algorithm>
#include <cmath>

#include "codegen/emit/coordinates.h"
#include "codegen/emit/operands.h"
#include "codegen/emit/places.h"
#include "codegen/emit/sizes.h"
#include "codegen/emit/steps.h"
#include "codegen/emit/tile_ops.h"
#include "core/kernel/op_shapes.h"

namespace heddle::codegen {
namespace {

/// Each thread keeps the part of its own columns until finish_lazy_sums().
bool is_lazy_sum(const EmitContext& emit, std::size_t v) {
  if (emit.tiles.kind != TileKind::Fragments || !is_zero_fill(emit, v)) return false;
  const std::string& name = emit.kernel.values[v].name;
  bool runs = false;
  for (const TileOp& op : emit.kernel.body) {
    const bool defines = std::find(op.outputs.begin(), op.outputs.end(), name) != op.outputs.end();
    if (defines && op.kind == "reduce_sum" && op.inputs.size() > 1 && op.inputs[1].value == name && op.inputs[1].distance == 1) {
      runs = true;
      continue;
    }
    if (defines || std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in.value == name; })) return false;
  }
  return runs;
}

}  // namespace

void write_reduction(EmitContext& emit, const Step& step, const TileOp& op) {
  const bool sum = op.kind == "reduce_sum", maximum = op.kind == "reduce_max";
  const TiledValue& out = emit.tiles.values[step.output.value];
  const TiledValue& in = emit.tiles.values[step.inputs.at(0).value];
  if (integer_attr(op, "axis", 1) != 1 || !in.layout || in.layout->kind != ThreadTile::Kind::Matrix || in.packed || out.packed ||
      !out.layout || out.layout->kind != ThreadTile::Kind::Rows)
    return emit.refuse("reduction", op, fmt::format("'{}' is no reduction of an f32 tile along its rows", op.name));
  float scale = number_attr(op, "scale").value_or(1.0f);
  if (!std::isfinite(scale) || (!sum && scale <= 0))
    return emit.refuse("reduction", op, fmt::format("'{}' has a scale that cannot be taken out of the reduction", op.name));
  if (text_attr(op, "variant") == "three_inputs")
    return emit.refuse("attribute", op,
                       fmt::format("'{}' says three_inputs, and lanes that share a row compare two numbers at a time", op.name));
  const auto argument = scalar_text(emit, op);
  if (argument) scale = 1;
  if (flag_attr(op, "mean")) scale /= static_cast<float>(in.layout->cols);
  const bool fragments = emit.tiles.kind == TileKind::Fragments;
  const std::string from = input_array(emit, step, 0);
  const int rows = out.layout->elements;
  const std::string combine = sum ? "{0} + {1}" : maximum ? "fmaxf({0}, {1})" : "fminf({0}, {1})";
  const auto combined = [&](const std::string& a, const std::string& b) { return fmt::format(fmt::runtime(combine), a, b); };
  // Two partial results per row, so that fewer operations wait for each other.
  emit.text.line("float even[{0}], odd[{0}];", rows);
  emit.text.raw("#pragma unroll");
  emit.text.open("for (int r = 0; r < {}; ++r) {{", rows);
  const std::string first = fragments ? "2 * r" : fmt::format("{} * r", in.layout->columns);
  const int steps = fragments ? in.layout->elements / 4 : in.layout->columns / 2;
  const int stride = fragments ? 4 : 2;
  emit.text.line("even[r] = {0}[{1}], odd[r] = {0}[{1} + 1];", from, first);
  emit.text.raw("#pragma unroll");
  emit.text.line("for (int j = 1; j < {}; ++j) {{", steps);
  emit.text.line("  even[r] = {};", combined("even[r]", fmt::format("{}[{} + {} * j]", from, first, stride)));
  emit.text.line("  odd[r] = {};", combined("odd[r]", fmt::format("{}[{} + {} * j + 1]", from, first, stride)));
  emit.text.raw("}");
  emit.text.line("even[r] = {};", combined("even[r]", "odd[r]"));
  const bool lazy = sum && step.output.kind == Place::Kind::Variable && is_lazy_sum(emit, step.output.value);
  for (int mask = lazy        ? 0
                  : fragments ? 1
                              : emit.tiles.lanes_of_row / 2;
       fragments ? mask > 0 && mask <= 2 : mask >= 1; mask = fragments ? mask * 2 : mask / 2)
    emit.text.line("even[r] = {};", combined("even[r]", fmt::format("__shfl_xor_sync(0xffffffffu, even[r], {})", mask)));
  // In straight code ptxas would put the additions off until their operands have to be spilled.
  if (lazy && !emit.section->loop) emit.text.line("even[r] = __shfl_sync(0xffffffffu, even[r], lane);");
  if (argument) emit.text.line("even[r] *= {};", *argument);
  if (scale != 1.0f) emit.text.line("even[r] *= {};", float_literal(scale));
  if (step.inputs.size() > 1) {
    const auto extra = [&](std::size_t k) {
      const TiledValue& v = emit.tiles.values[step.inputs[k].value];
      if (!v.layout || v.packed || v.layout->kind != ThreadTile::Kind::Rows)
        emit.refuse("reduction", op, fmt::format("'{}' has an operand that is not one f32 number per row", op.name));
      return input_array(emit, step, k) + "[r]";
    };
    const std::string second = extra(1);
    if (step.inputs.size() > 2)
      emit.text.line("even[r] = fmaf({}, {}, even[r]);", second, extra(2));
    else if (const float within = maximum ? number_attr(op, "keep_within").value_or(0.0f) : 0.0f; within > 0)
      emit.text.line("even[r] = even[r] - {0} > {1} ? even[r] : {0};", second, float_literal(within));
    else
      emit.text.line("even[r] = {};", combined("even[r]", second));
  }
  emit.text.close();
  const std::string to = begin_result(emit, step);
  emit.text.raw("#pragma unroll");
  emit.text.line("for (int r = 0; r < {}; ++r) {}[r] = even[r];", rows, to);
  end_result(emit, step);
  // The sum is not needed before the loop is over; the additions stay here all the same.
  if (lazy) emit.text.line("pin({});", register_text(emit, step.output));
}

void write_mask(EmitContext& emit, const Step& step, const TileOp& op) {
  const TiledValue& in = emit.tiles.values[step.inputs.at(0).value];
  const auto value = number_attr(op, "value").value_or(0.0f);
  if (emit.tiles.kind != TileKind::Fragments || !in.layout || in.layout->kind != ThreadTile::Kind::Matrix || in.packed ||
      step.output.kind != Place::Kind::Variable || !std::isfinite(value))
    return emit.refuse("mask", op,
                       fmt::format("'{}' does not mask an f32 tile in the registers of a kernel with wgmma by a finite number", op.name));
  const auto at = coordinates(emit, step, op);  // innermost first
  const std::string from = input_array(emit, step, 0), to = begin_result(emit, step);
  if (from != to) {
    emit.text.raw("#pragma unroll");
    emit.text.line("for (int e = 0; e < {}; ++e) {}[e] = {}[e];", in.layout->elements, to, from);
  }
  const bool before = flag_attr(op, "before"), rows = before && integer_attr(op, "axis", 1) == 0, transposed = flag_attr(op, "transpose");
  const int last_row = in.layout->rows - 1, last_column = in.layout->cols - 1;
  emit.text.line("const int {} = {}, {} = {};", before ? "end" : "row", at[1], rows ? "row" : "column", at[0]);
  if (before)
    emit.text.line("if ({0} + {1} > end) {{  // for the whole warp group: {0}s beyond the end", rows ? "row" : "column",
                   1 + (rows ? last_row : last_column));
  else
    emit.text.line("if ({}) {{  // for the whole warp group: on the diagonal or beyond it",
                   transposed ? fmt::format("row + {} > column", last_row) : fmt::format("column + {} > row", last_column));
  emit.text.line("  const int own = {};", rows     ? "end - row - warp * 16 - lane / 4"
                                          : before ? "end - column - lane % 4 * 2"
                                                   : "row + warp * 16 + lane / 4 - column - lane % 4 * 2");
  emit.text.raw("#pragma unroll");
  emit.text.line("  for (int e = 0; e < {}; ++e)", in.layout->elements);
  emit.text.line("    if ({} {} own) {}[e] = {};",
                 rows     ? "(e >> 1 & 1) * 8"
                 : before ? "e / 4 * 8 + (e & 1)"
                          : "e / 4 * 8 + (e & 1) - (e >> 1 & 1) * 8",
                 before       ? ">="
                 : transposed ? "<"
                              : ">",
                 to, float_literal(value));
  emit.text.raw("}");
  end_result(emit, step);
}

void finish_lazy_sums(EmitContext& emit, const Step& step) {
  if (step.op.list != OpRef::List::Epilogue) return;
  for (const Place& p : step.inputs) {
    if (p.kind != Place::Kind::Variable || !is_lazy_sum(emit, p.value) || !emit.notes.finished_sums.insert(p.value).second) continue;
    emit.text.line("// {}: first the parts of {} in the four threads of a row", safe_name(op_of(emit.kernel, step.op).name),
                   safe_name(emit.kernel.values[p.value].name));
    emit.text.raw("#pragma unroll");
    emit.text.line("for (int r = 0; r < {}; ++r) {{", emit.tiles.words_of(p.value));
    for (const int mask : {1, 2}) emit.text.line("  {0}[r] += __shfl_xor_sync(0xffffffffu, {0}[r], {1});", register_text(emit, p), mask);
    emit.text.raw("}");
  }
}

}  // namespace heddle::codegen
