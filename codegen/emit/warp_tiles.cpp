// What threads do with tiles that are spread over the lanes of their warp: reductions by shuffles, and masks. Tiles are wgmma's fragments,
// or whole rows per warp in kernels without products.
#include <algorithm>
#include <cmath>

#include "codegen/emit/writer.h"

namespace heddle::codegen {

bool Writer::is_lazy_sum(std::size_t v) const {
  if (tiles_ != Tiles::Fragments || !is_zero_fill(v)) return false;
  const std::string& name = kernel_.values[v].name;
  bool runs = false;
  for (const TileOp& op : kernel_.body) {
    const bool defines = std::find(op.outputs.begin(), op.outputs.end(), name) != op.outputs.end();
    if (defines && op.kind == "reduce_sum" && op.inputs.size() > 1 && op.inputs[1].value == name && op.inputs[1].distance == 1) {
      runs = true;
      continue;
    }
    if (defines || std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in.value == name; })) return false;
  }
  return runs;
}

void Writer::finish_lazy_sums(const Step& step) {
  if (step.op.list != OpRef::List::Epilogue) return;
  for (const Place& p : step.inputs) {
    if (p.kind != Place::Kind::Variable || !is_lazy_sum(p.value) || !finished_sums_.insert(p.value).second) continue;
    line("// {}: first the parts of {} in the four threads of a row", named(op_of(kernel_, step.op)),
         safe_name(kernel_.values[p.value].name));
    raw("#pragma unroll");
    line("for (int r = 0; r < {}; ++r) {{", words_of(p.value));
    for (const int mask : {1, 2}) line("  {0}[r] += __shfl_xor_sync(0xffffffffu, {0}[r], {1});", register_text(p), mask);
    raw("}");
  }
}

void Writer::write_reduction(const Step& step, const TileOp& op) {
  const bool sum = op.kind == "reduce_sum", maximum = op.kind == "reduce_max";
  const Value& out = values_[step.output.value];
  const Value& in = values_[step.inputs.at(0).value];
  if (integer_attr(op, "axis", 1) != 1 || !in.layout || in.layout->kind != Layout::Kind::Matrix || in.packed || out.packed || !out.layout ||
      out.layout->kind != Layout::Kind::Rows)
    return refuse("reduction", op, fmt::format("'{}' is no reduction of an f32 tile along its rows", op.name));
  float scale = number_attr(op, "scale").value_or(1.0f);
  if (!std::isfinite(scale) || (!sum && scale <= 0))
    return refuse("reduction", op, fmt::format("'{}' has a scale that cannot be taken out of the reduction", op.name));
  if (text_attr(op, "variant") == "three_inputs")
    return refuse("attribute", op,
                  fmt::format("'{}' says three_inputs, and lanes that share a row compare two numbers at a time", op.name));
  if (flag_attr(op, "mean")) scale /= static_cast<float>(in.layout->cols);
  const bool fragments = tiles_ == Tiles::Fragments;
  const std::string from = input_array(step, 0);
  const int rows = out.layout->elements;
  const std::string combine = sum ? "{0} + {1}" : maximum ? "fmaxf({0}, {1})" : "fminf({0}, {1})";
  const auto combined = [&](const std::string& a, const std::string& b) { return fmt::format(fmt::runtime(combine), a, b); };
  // Two partial results per row, so that fewer operations wait for each other.
  line("float even[{0}], odd[{0}];", rows);
  raw("#pragma unroll");
  line("for (int r = 0; r < {}; ++r) {{", rows);
  ++indent_;
  const std::string first = fragments ? "2 * r" : fmt::format("{} * r", in.layout->columns);
  const int steps = fragments ? in.layout->elements / 4 : in.layout->columns / 2;
  const int stride = fragments ? 4 : 2;
  line("even[r] = {0}[{1}], odd[r] = {0}[{1} + 1];", from, first);
  raw("#pragma unroll");
  line("for (int j = 1; j < {}; ++j) {{", steps);
  line("  even[r] = {};", combined("even[r]", fmt::format("{}[{} + {} * j]", from, first, stride)));
  line("  odd[r] = {};", combined("odd[r]", fmt::format("{}[{} + {} * j + 1]", from, first, stride)));
  raw("}");
  line("even[r] = {};", combined("even[r]", "odd[r]"));
  const bool lazy = sum && step.output.kind == Place::Kind::Variable && is_lazy_sum(step.output.value);
  for (int mask = lazy ? 0 : fragments ? 1 : 16; fragments ? mask > 0 && mask <= 2 : mask >= 1; mask = fragments ? mask * 2 : mask / 2)
    line("even[r] = {};", combined("even[r]", fmt::format("__shfl_xor_sync(0xffffffffu, even[r], {})", mask)));
  // In straight code ptxas would put the additions off until their operands have to be spilled.
  if (lazy && !section_->loop) line("even[r] = __shfl_sync(0xffffffffu, even[r], lane);");
  if (scale != 1.0f) line("even[r] *= {};", float_literal(scale));
  if (step.inputs.size() > 1) {
    const auto extra = [&](std::size_t k) {
      const Value& v = values_[step.inputs[k].value];
      if (!v.layout || v.packed || v.layout->kind != Layout::Kind::Rows)
        refuse("reduction", op, fmt::format("'{}' has an operand that is not one f32 number per row", op.name));
      return input_array(step, k) + "[r]";
    };
    const std::string second = extra(1);
    if (step.inputs.size() > 2)
      line("even[r] = fmaf({}, {}, even[r]);", second, extra(2));
    else if (const float within = maximum ? number_attr(op, "keep_within").value_or(0.0f) : 0.0f; within > 0)
      line("even[r] = even[r] - {0} > {1} ? even[r] : {0};", second, float_literal(within));
    else
      line("even[r] = {};", combined("even[r]", second));
  }
  --indent_;
  raw("}");
  const std::string to = begin_result(step);
  raw("#pragma unroll");
  line("for (int r = 0; r < {}; ++r) {}[r] = even[r];", rows, to);
  end_result(step);
  // The sum is not needed before the loop is over; the additions stay here all the same.
  if (lazy) line("pin({});", register_text(step.output));
}

void Writer::write_mask(const Step& step, const TileOp& op) {
  const Value& in = values_[step.inputs.at(0).value];
  const auto value = number_attr(op, "value").value_or(0.0f);
  if (tiles_ != Tiles::Fragments || !in.layout || in.layout->kind != Layout::Kind::Matrix || in.packed ||
      step.output.kind != Place::Kind::Variable || !std::isfinite(value))
    return refuse("mask", op,
                  fmt::format("'{}' does not mask an f32 tile in the registers of a kernel with wgmma by a finite number", op.name));
  const auto at = coordinates(step, op);  // innermost first
  const std::string from = input_array(step, 0), to = begin_result(step);
  if (from != to) {
    raw("#pragma unroll");
    line("for (int e = 0; e < {}; ++e) {}[e] = {}[e];", in.layout->elements, to, from);
  }
  line("const int row = {}, column = {};", at[1], at[0]);
  line("if (column + {} > row) {{  // for the whole warp group: on the diagonal or beyond it", in.layout->cols - 1);
  raw("  const int own = row + warp * 16 + lane / 4 - column - lane % 4 * 2;");
  raw("#pragma unroll");
  line("  for (int e = 0; e < {}; ++e)", in.layout->elements);
  line("    if (e / 4 * 8 + (e & 1) - (e >> 1 & 1) * 8 > own) {}[e] = {};", to, float_literal(value));
  raw("}");
  end_result(step);
}

}  // namespace heddle::codegen
