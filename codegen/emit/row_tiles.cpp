// What threads do with tiles of which each of them has a row: reductions and masks need no other thread.
#include <cmath>

#include "codegen/emit/coordinates.h"
#include "codegen/emit/operands.h"
#include "codegen/emit/sizes.h"
#include "codegen/emit/tile_ops.h"
#include "core/kernel/op_shapes.h"

namespace heddle::codegen {

void write_row_reduction(EmitContext& emit, const Step& step, const TileOp& op) {
  const bool sum = op.kind == "reduce_sum", maximum = op.kind == "reduce_max";
  const TiledValue& out = emit.tiles.values[step.output.value];
  const TiledValue& in = emit.tiles.values[step.inputs.at(0).value];
  using Kind = ThreadTile::Kind;
  if (integer_attr(op, "axis", 1) != 1 || !in.layout || in.layout->kind != Kind::Matrix || in.packed || out.packed || !out.layout ||
      out.layout->kind != Kind::Rows || emit.tiles.pieces_of(step, step.inputs[0].value) > 1)
    return emit.refuse("reduction", op, fmt::format("'{}' is no reduction of an f32 tile along its rows", op.name));
  float scale = number_attr(op, "scale").value_or(1.0f);
  if (!std::isfinite(scale) || (!sum && scale <= 0))
    return emit.refuse("reduction", op, fmt::format("'{}' has a scale that cannot be taken out of the reduction", op.name));
  const auto argument = scalar_text(emit, op);
  if (argument) scale = 1;
  if (flag_attr(op, "mean")) scale /= static_cast<float>(in.layout->cols);
  const std::string from = input_array(emit, step, 0);
  const int elements = in.layout->elements;
  // Four partial results, so that fewer operations wait for each other.
  emit.text.raw("float part[4];");
  emit.text.raw("#pragma unroll");
  const bool three = maximum && text_attr(op, "variant") == "three_inputs";
  if (three) {
    emit.text.line("for (int r = 0; r < 4; ++r) part[r] = fmaxf({0}[r], {0}[4 + r]);", from);
    emit.text.raw("#pragma unroll");
    emit.text.line("for (int e = 8; e < {}; e += 8)", elements);
    emit.text.raw("#pragma unroll");
    emit.text.line("  for (int r = 0; r < 4; ++r) part[r] = max3_(part[r], {0}[e + r], {0}[e + 4 + r]);", from);
    emit.text.raw("float all = max3_(part[0], part[1], fmaxf(part[2], part[3]));");
  } else {
    emit.text.line("for (int r = 0; r < 4; ++r) part[r] = {}[r];", from);
    emit.text.raw("#pragma unroll");
    emit.text.line("for (int e = 4; e < {}; e += 4)", elements);
    emit.text.raw("#pragma unroll");
    if (!sum) {
      const char* combine = maximum ? "fmaxf" : "fminf";
      emit.text.line("  for (int r = 0; r < 4; ++r) part[r] = {}(part[r], {}[e + r]);", combine, from);
      emit.text.line("float all = {0}({0}(part[0], part[1]), {0}(part[2], part[3]));", combine);
    } else {
      emit.text.line("  for (int r = 0; r < 4; ++r) part[r] += {}[e + r];", from);
      emit.text.raw("float all = (part[0] + part[1]) + (part[2] + part[3]);");
    }
  }
  if (argument) emit.text.line("all *= {};", *argument);
  if (scale != 1.0f) emit.text.line("all *= {};", float_literal(scale));
  if (step.inputs.size() > 1) {
    const auto extra = [&](std::size_t k) {
      const TiledValue& v = emit.tiles.values[step.inputs[k].value];
      if (!v.layout || v.packed || v.layout->kind != Kind::Rows)
        emit.refuse("reduction", op, fmt::format("'{}' has an operand that is not one f32 number per row", op.name));
      return input_array(emit, step, k) + "[0]";
    };
    const std::string second = extra(1);
    if (step.inputs.size() > 2)
      emit.text.line("all = fmaf({}, {}, all);", second, extra(2));
    else if (const float within = maximum ? number_attr(op, "keep_within").value_or(0.0f) : 0.0f; within > 0)
      emit.text.line("all = all - {0} > {1} ? all : {0};", second, float_literal(within));
    else if (!sum)
      emit.text.line("all = {}(all, {});", maximum ? "fmaxf" : "fminf", second);
    else
      emit.text.line("all += {};", second);
  }
  emit.text.line("{}[0] = all;", begin_result(emit, step));
  end_result(emit, step);
}

void write_row_mask(EmitContext& emit, const Step& step, const TileOp& op) {
  const TiledValue& in = emit.tiles.values[step.inputs.at(0).value];
  const auto value = number_attr(op, "value").value_or(0.0f);
  if (!in.layout || in.layout->kind != ThreadTile::Kind::Matrix || in.packed || step.output.kind != Place::Kind::Variable ||
      !std::isfinite(value))
    return emit.refuse("mask", op, fmt::format("'{}' does not mask an f32 tile in registers by a finite number", op.name));
  const auto at = coordinates(emit, step, op);  // innermost first
  const int elements = emit.tiles.elements_of(step, step.inputs[0].value), skipped = step.piece.number * elements;
  const std::string from = input_array(emit, step, 0), to = begin_result(emit, step);
  if (from != to) {
    emit.text.raw("#pragma unroll");
    emit.text.line("for (int e = 0; e < {}; ++e) {}[e] = {}[e];", elements, to, from);
  }
  const bool before = flag_attr(op, "before"), transposed = flag_attr(op, "transpose");
  if (before && integer_attr(op, "axis", 1) == 0) {
    emit.text.line("const int end = {}, row = {};", at[1], at[0]);
    emit.text.raw("if (row + tid >= end) {  // rows beyond the end");
    emit.text.raw("#pragma unroll");
    emit.text.line("  for (int e = 0; e < {}; ++e) {}[e] = {};", elements, to, float_literal(value));
    emit.text.raw("}");
    return end_result(emit, step);
  }
  emit.text.line("const int {} = {}, column = {}{};", before ? "end" : "row", at[1], at[0],
                 skipped > 0 ? fmt::format(" + {}", skipped) : "");
  if (before)
    emit.text.line("if (column + {} > end) {{  // for the whole role: columns beyond the end", elements);
  else
    emit.text.line("if ({}) {{  // for the whole role: on the diagonal or beyond it",
                   transposed ? fmt::format("row + {} > column", in.layout->rows - 1) : fmt::format("column + {} > row", elements - 1));
  emit.text.line("  const int own = {} - column;", before ? "end" : "row + tid");
  emit.text.raw("#pragma unroll");
  emit.text.line("  for (int e = 0; e < {}; ++e)", elements);
  emit.text.line("    if (e {} own) {}[e] = {};", before ? ">=" : transposed ? "<" : ">", to, float_literal(value));
  emit.text.raw("}");
  end_result(emit, step);
}

}  // namespace heddle::codegen
