// What threads do with tiles of which each of them has a row: reductions and masks need no other thread.
#include <cmath>

#include "codegen/emit/writer.h"

namespace heddle::codegen {

void Writer::write_row_reduction(const Step& step, const TileOp& op) {
  const bool sum = op.kind == "reduce_sum", maximum = op.kind == "reduce_max";
  const Value& out = values_[step.output.value];
  const Value& in = values_[step.inputs.at(0).value];
  using Kind = Layout::Kind;
  if (integer_attr(op, "axis", 1) != 1 || !in.layout || in.layout->kind != Kind::Matrix || in.packed || out.packed || !out.layout ||
      out.layout->kind != Kind::Rows || pieces_of(step, step.inputs[0].value) > 1)
    return refuse("reduction", op, fmt::format("'{}' is no reduction of an f32 tile along its rows", op.name));
  float scale = number_attr(op, "scale").value_or(1.0f);
  if (!std::isfinite(scale) || (!sum && scale <= 0))
    return refuse("reduction", op, fmt::format("'{}' has a scale that cannot be taken out of the reduction", op.name));
  if (flag_attr(op, "mean")) scale /= static_cast<float>(in.layout->cols);
  const std::string from = input_array(step, 0);
  const int elements = in.layout->elements;
  // Four partial results, so that fewer operations wait for each other.
  raw("float part[4];");
  raw("#pragma unroll");
  const bool three = maximum && text_attr(op, "variant") == "three_inputs";
  if (three) {
    line("for (int r = 0; r < 4; ++r) part[r] = fmaxf({0}[r], {0}[4 + r]);", from);
    raw("#pragma unroll");
    line("for (int e = 8; e < {}; e += 8)", elements);
    raw("#pragma unroll");
    line("  for (int r = 0; r < 4; ++r) part[r] = max3_(part[r], {0}[e + r], {0}[e + 4 + r]);", from);
    raw("float all = max3_(part[0], part[1], fmaxf(part[2], part[3]));");
  } else {
    line("for (int r = 0; r < 4; ++r) part[r] = {}[r];", from);
    raw("#pragma unroll");
    line("for (int e = 4; e < {}; e += 4)", elements);
    raw("#pragma unroll");
    if (!sum) {
      const char* combine = maximum ? "fmaxf" : "fminf";
      line("  for (int r = 0; r < 4; ++r) part[r] = {}(part[r], {}[e + r]);", combine, from);
      line("float all = {0}({0}(part[0], part[1]), {0}(part[2], part[3]));", combine);
    } else {
      line("  for (int r = 0; r < 4; ++r) part[r] += {}[e + r];", from);
      raw("float all = (part[0] + part[1]) + (part[2] + part[3]);");
    }
  }
  if (scale != 1.0f) line("all *= {};", float_literal(scale));
  if (step.inputs.size() > 1) {
    const auto extra = [&](std::size_t k) {
      const Value& v = values_[step.inputs[k].value];
      if (!v.layout || v.packed || v.layout->kind != Kind::Rows)
        refuse("reduction", op, fmt::format("'{}' has an operand that is not one f32 number per row", op.name));
      return input_array(step, k) + "[0]";
    };
    const std::string second = extra(1);
    if (step.inputs.size() > 2)
      line("all = fmaf({}, {}, all);", second, extra(2));
    else if (const float within = maximum ? number_attr(op, "keep_within").value_or(0.0f) : 0.0f; within > 0)
      line("all = all - {0} > {1} ? all : {0};", second, float_literal(within));
    else if (!sum)
      line("all = {}(all, {});", maximum ? "fmaxf" : "fminf", second);
    else
      line("all += {};", second);
  }
  line("{}[0] = all;", begin_result(step));
  end_result(step);
}

void Writer::write_row_mask(const Step& step, const TileOp& op) {
  const Value& in = values_[step.inputs.at(0).value];
  const auto value = number_attr(op, "value").value_or(0.0f);
  if (!in.layout || in.layout->kind != Layout::Kind::Matrix || in.packed || step.output.kind != Place::Kind::Variable ||
      !std::isfinite(value))
    return refuse("mask", op, fmt::format("'{}' does not mask an f32 tile in registers by a finite number", op.name));
  const auto at = coordinates(step, op);  // innermost first
  const int elements = elements_of(step, step.inputs[0].value), skipped = step.piece.number * elements;
  const std::string from = input_array(step, 0), to = begin_result(step);
  if (from != to) {
    raw("#pragma unroll");
    line("for (int e = 0; e < {}; ++e) {}[e] = {}[e];", elements, to, from);
  }
  line("const int row = {}, column = {}{};", at[1], at[0], skipped > 0 ? fmt::format(" + {}", skipped) : "");
  line("if (column + {} > row) {{  // for the whole role: on the diagonal or beyond it", elements - 1);
  raw("  const int own = row + tid - column;");
  raw("#pragma unroll");
  line("  for (int e = 0; e < {}; ++e)", elements);
  line("    if (e > own) {}[e] = {};", to, float_literal(value));
  raw("}");
  end_result(step);
}

}  // namespace heddle::codegen
