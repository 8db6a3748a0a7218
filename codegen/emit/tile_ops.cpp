// Tile instructions that a role's own threads execute: who writes which, and those that each thread does to its own elements, however
// they lie.
#include <algorithm>
#include <array>
#include <cmath>

#include "codegen/emit/writer.h"

namespace heddle::codegen {
namespace {

struct Function {
  std::string_view name;
  int operands;
  const char* text;  ///< of a, b, c
};

constexpr std::array<Function, 22> kFunctions{{
    {"add", 2, "{0} + {1}"},
    {"sub", 2, "{0} - {1}"},
    {"mul", 2, "{0} * {1}"},
    {"div", 2, "{0} * recip_({1})"},
    {"max", 2, "fmaxf({0}, {1})"},
    {"min", 2, "fminf({0}, {1})"},
    {"fma", 3, "fmaf({0}, {1}, {2})"},
    {"select", 3, "({0}) != 0.0f ? {1} : {2}"},
    {"scale", 2, "{0} * {1}"},
    {"copy", 1, "{0}"},
    {"neg", 1, "-({0})"},
    {"abs", 1, "fabsf({0})"},
    {"recip", 1, "recip_({0})"},
    {"sqrt", 1, "sqrt_({0})"},
    {"rsqrt", 2, "rsqrt_({0} + {1})"},
    {"square", 1, "{0} * {0}"},
    {"log2", 1, "log2_({0})"},
    {"sigmoid", 1, "sigmoid_({0})"},
    {"silu", 1, "{0} * sigmoid_({0})"},
    {"tanh", 1, "tanh_({0})"},
    {"relu", 1, "fmaxf({0}, 0.0f)"},
    {"gelu", 1, "0.5f * ({0}) * (1.0f + erff(({0}) * 0.70710678f))"},
}};

/// Of numbers of 8 and 4 bits too; everything else computes with f32 and 16 bits.
bool moves_narrow(const TileOp& op) {
  return op.kind == "convert" || op.kind == "copy" || op.kind == "smem_store" || op.kind == "smem_load" || op.kind == "load";
}

}  // namespace

void Writer::write_compute(const Step& step) {
  const TileOp& op = op_of(kernel_, step.op);
  if (!op.outputs.empty() && step.output.kind == Place::Kind::Variable && !values_[step.output.value].layout) return;
  if (!moves_narrow(op))
    for (const std::vector<Place>& places : {step.inputs, {step.output}})
      for (const Place& p : places)
        if (p.kind != Place::Kind::None && values_[p.value].layout && values_[p.value].per_register > 2)
          return refuse("operand", op,
                        fmt::format("'{}' computes with numbers of type {} ('{}'), which must be converted first", op.name,
                                    to_string(kernel_.values[p.value].dtype), kernel_.values[p.value].name));
  if (op.kind == "tmem_load") return write_tensor_load(step, op);
  if (op.kind == "tmem_store") return write_tensor_store(step, op);
  const bool rows = tiles_ == Tiles::ThreadRows;
  if ((is_reduction(op.kind) || op.kind == "mask") && !lies_as_usual(step, op)) return;
  raw("{");
  ++indent_;
  take_inputs(step, op);
  if (op.kind == "fill" && step.output.kind == Place::Kind::Buffer && program_.buffers[step.output.index].tensor())
    write_tensor_fill(step, op);
  else if (op.kind == "fill" || op.kind == "elementwise" || op.kind == "exp2" || op.kind == "broadcast")
    write_elements(step, op);
  else if (op.kind == "map")
    write_map(step, op);
  else if (op.kind == "reduce_max" || op.kind == "reduce_min" || op.kind == "reduce_sum")
    rows ? write_row_reduction(step, op) : write_reduction(step, op);
  else if (op.kind == "convert" || op.kind == "copy")
    write_convert(step, op);
  else if (op.kind == "mask")
    rows ? write_row_mask(step, op) : write_mask(step, op);
  else if (op.kind == "smem_store" || op.kind == "smem_load")
    write_access(step, op, op.kind == "smem_store");
  else if (op.kind == "load")
    write_global_load(step, op);
  else
    refuse("kind", op, fmt::format("'{}' is a {}, which cannot be written yet", op.name, op.kind));
  --indent_;
  raw("}");
}

bool Writer::is_smem_vector(const Step& step, const TileOp& op, std::size_t input) const {
  const Place& place = step.inputs[input];
  if (tiles_ == Tiles::WarpRows || place.kind != Place::Kind::Buffer || values_[place.value].shape.size() != 1 ||
      program_.buffers[place.index].registers)
    return false;
  const DType type = kernel_.values[place.value].dtype;
  return type == DType::F32 || (bits_of(type) == 16 && !is_one(place) && axis_of(step, op, input) == 0);
}

bool Writer::is_one(const Place& place) const { return values_[place.value].shape == std::vector<std::int64_t>{1}; }

/// Registers that another role handed over, and what a thread needs of vectors in shared memory.
void Writer::take_inputs(const Step& step, const TileOp& op) {
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const Place& p = step.inputs[k];
    if (is_smem_vector(step, op, k)) {
      if (is_one(p)) {
        line("float taken{0}[1]; load_word({1}, taken{0}[0]);", k, value_text(p));
        continue;
      }
      if (axis_of(step, op, k) == 1) continue;  // write_each_element() takes some at a time, to save registers
      line("float taken{}[{}];", k, rows_per_thread());
      if (values_[p.value].packed) {
        raw("#pragma unroll");
        line("for (int r = 0; r < {}; ++r) {{", rows_per_thread());
        line("  u32 half;");
        line("  load_half({} + {} * 2, half);", slot_text(p), tiles_ == Tiles::ThreadRows ? "tid" : "(warp * 16 + lane / 4 + r * 8)");
        line("  taken{}[r] = low_{}(half);", k, kernel_.values[p.value].dtype == DType::F16 ? "f16" : "bf16");
        raw("}");
        continue;
      }
      if (tiles_ == Tiles::ThreadRows) {
        line("load_word({} + tid * 4, taken{}[0]);", slot_text(p), k);
        continue;
      }
      raw("#pragma unroll");
      line("for (int r = 0; r < 2; ++r) load_word({} + (warp * 16 + lane / 4 + r * 8) * 4, taken{}[r]);", slot_text(p), k);
      continue;
    }
    if (p.kind != Place::Kind::Buffer || !program_.buffers[p.index].registers) continue;
    take_hand_over(step, k);
  }
}

std::string Writer::input_array(const Step& step, std::size_t input) {
  const Place& p = step.inputs[input];
  return p.kind == Place::Kind::Variable ? register_text(p) : fmt::format("taken{}", input);
}

std::string Writer::begin_result(const Step& step) {
  const Variable& v = role_->variables[step.output.index];
  if (!v.moves) return register_text(step.output);
  line("{} made[{}];", type_of(step.output.value), words_of(step, step.output.value));
  return "made";
}

void Writer::end_result(const Step& step) {
  const Variable& v = role_->variables[step.output.index];
  if (!v.moves) return;
  Place to = step.output;
  raw("#pragma unroll");
  line("for (int r = 0; r < {}; ++r) {{", words_of(step, step.output.value));
  for (int c = v.copies - 1; c > 0; --c) {
    Place from = to;
    to.copy = c;
    from.copy = c - 1;
    line("  {}[r] = {}[r];", register_text(to), register_text(from));
  }
  to.copy = 0;
  line("  {}[r] = made[r];", register_text(to));
  raw("}");
}

std::string Writer::element_text(const Step& step, const TileOp& op, std::size_t input, const Layout& result) {
  const Place& p = step.inputs[input];
  const Value& v = values_[p.value];
  if (is_smem_vector(step, op, input) && is_one(p)) return fmt::format("taken{}[0]", input);
  const bool alike = v.shape.size() == values_[step.output.value].shape.size();
  const bool by_row = v.shape.size() == 1 && axis_of(step, op, input) == 0;
  const bool usual = (by_row ? result.usual_rows : result.usual) && (!v.layout || v.layout->usual);
  if (alike ? !lies_alike(p.value, step.output.value) : !usual) {
    refuse("operand", op,
           fmt::format("'{}' computes with '{}', which lies as {} and its result as {}: a copy can bring it there", op.name,
                       kernel_.values[p.value].name, plan_->values[p.value].text, plan_->values[step.output.value].text));
    return "0.0f";
  }
  if (is_smem_vector(step, op, input) && result.kind == Layout::Kind::Matrix) {
    const bool columns = axis_of(step, op, input) == 1;
    if (v.shape[0] == (columns ? result.cols : result.rows)) {
      if (columns && tiles_ == Tiles::ThreadRows) return fmt::format("__uint_as_float(taken{}[e & 3])", input);
      return fmt::format("taken{}[{}]", input, columns ? "e & 1" : index_of_row(result));
    }
  }
  using Kind = Layout::Kind;
  if (!v.layout || (v.packed && v.layout->kind == Kind::Rows)) {
    refuse("operand", op, fmt::format("'{}' computes with an operand that is no number in registers", op.name));
    return "0.0f";
  }
  const std::string array = input_array(step, input);
  // Element 2 * `pair` + (e & 1): neighbours are of the same row, also where two of them share a register.
  const char* type = kernel_.values[p.value].dtype == DType::F16 ? "f16" : "bf16";
  const auto of_pair = [&](const std::string& pair) {
    return v.packed ? fmt::format("(e & 1 ? high_{0}({1}[{2}]) : low_{0}({1}[{2}]))", type, array, pair)
                    : fmt::format("{}[{} * 2 + (e & 1)]", array, pair);
  };
  if (v.layout->kind == result.kind) return v.packed ? of_pair("e / 2") : array + "[e]";
  const std::int64_t axis = axis_of(step, op, input);
  if (result.kind == Kind::Matrix && v.layout->kind == Kind::Rows && axis == 0) return fmt::format("{}[{}]", array, index_of_row(result));
  if (result.kind == Kind::Matrix && v.layout->kind == Kind::Columns && axis == 1) {
    if (tiles_ == Tiles::Fragments) return of_pair("e / 4");
    return v.packed ? of_pair(fmt::format("e % {} / 2", result.columns)) : fmt::format("{}[e % {}]", array, result.columns);
  }
  refuse("operand", op, fmt::format("'{}' has an operand that does not lie over its result thread by thread", op.name));
  return "0.0f";
}

void Writer::write_elements(const Step& step, const TileOp& op) {
  const Value& out = values_[step.output.value];
  if (out.packed || step.output.kind != Place::Kind::Variable)
    return refuse("operand", op, fmt::format("'{}' does not compute f32 into registers", op.name));
  std::vector<std::string> operands;
  for (std::size_t k = 0; k < step.inputs.size(); ++k) operands.push_back(element_text(step, op, k, *out.layout));
  for (const char* name : {"scale", "value"})
    if (const auto number = number_attr(op, name); number && !std::isfinite(*number))
      return refuse("attribute", op, fmt::format("attribute '{}' of '{}' is no finite number", name, op.name));
  const std::string raw_first = operands.empty() ? "" : operands[0];
  const auto scale = number_attr(op, "scale");
  if (scale && !operands.empty()) operands[0] = fmt::format("{} * {}", operands[0], float_literal(*scale));
  std::string expression;
  if (op.kind == "fill") {
    expression = float_literal(number_attr(op, "value").value_or(0.0f));
  } else if (op.kind == "broadcast") {
    expression = operands.at(0);
  } else if (op.kind == "exp2") {
    if (operands.size() < 2)
      expression = operands.at(0);
    else if (scale)
      expression = fmt::format("fmaf({}, {}, -{})", raw_first, float_literal(*scale), operands[1]);
    else
      expression = fmt::format("{} - {}", operands[0], operands[1]);
    // Every so many elements without the special function unit: e * percent / 100 grows by one there.
    const std::int64_t percent = integer_attr(op, "emulated", 0);
    if (percent > 0 && !program_.blackwell())
      return refuse("attribute", op, fmt::format("'{}' says emulated, and in a text for Hopper every power is MUFU's", op.name));
    expression = percent > 0 ? fmt::format("(e + 1) * {0} / 100 > e * {0} / 100 ? exp2_poly_({1}) : exp2_({1})", percent, expression)
                             : fmt::format("exp2_({})", expression);
  } else {
    const std::string name = text_attr(op, "fn");
    const Function* function = nullptr;
    for (const Function& f : kFunctions)
      if (f.name == name) function = &f;
    if (!function) return refuse("function", op, fmt::format("'{}' computes a function that is not known", op.name));
    if (static_cast<int>(operands.size()) < function->operands) operands.push_back(float_literal(number_attr(op, "value").value_or(0.0f)));
    if (static_cast<int>(operands.size()) != function->operands)
      return refuse("function", op, fmt::format("'{}' has the wrong number of operands", op.name));
    if (name == "sub" && scale) {
      expression = fmt::format("fmaf({}, {}, -({}))", raw_first, float_literal(*scale), operands[1]);
    } else {
      if (scale) operands[0] = "(" + operands[0] + ")";
      operands.resize(3);
      expression = fmt::format(fmt::runtime(function->text), operands[0], operands[1], operands[2]);
    }
  }
  const std::string to = begin_result(step);
  write_each_element(step, op, to, {{}, expression});
  end_result(step);
}

std::int64_t Writer::axis_of(const Step& step, const TileOp& op, std::size_t input) const {
  if (op.kind != "map") return integer_attr(op, "axis", 0);
  return map_lay(op, input, values_[step.inputs[input].value].shape, values_[step.output.value].shape) == Lay::AlongColumns;
}

void Writer::write_each_element(const Step& step, const TileOp& op, const std::string& to, const ElementText& text) {
  const Value& out = values_[step.output.value];
  const char* type = kernel_.values[step.output.value].dtype == DType::F16 ? "f16" : "bf16";
  const auto body = [&](const std::string& target) {
    for (const std::string& before : text.before) raw(before);
    line("{} = {};", target, text.value);
  };
  // Elements from `first` up to `last`.
  const auto each = [&](const std::string& first, const std::string& last) {
    if (!out.packed && text.before.empty()) return line("for (int e = {}; e < {}; ++e) {}[e] = {};", first, last, to, text.value);
    line("for (int e{0} = {1}; e{0} < {2}; {3}) {{", out.packed ? "0" : "", first, last, out.packed ? "e0 += 2" : "++e");
    ++indent_;
    if (out.packed) {
      raw("float pair[2];");
      raw("#pragma unroll");
      raw("for (int e = e0; e < e0 + 2; ++e) {");
      ++indent_;
      body("pair[e - e0]");
      --indent_;
      raw("}");
      line("{}[e0 / 2] = pack_{}(pair[0], pair[1]);", to, type);
    } else {
      body(to + "[e]");
    }
    --indent_;
    raw("}");
  };
  raw("#pragma unroll");
  const auto by_column = [&](std::size_t k) { return is_smem_vector(step, op, k) && !is_one(step.inputs[k]) && axis_of(step, op, k) == 1; };
  bool by_columns = false;
  for (std::size_t k = 0; k < step.inputs.size(); ++k) by_columns = by_columns || by_column(k);
  if (by_columns && tiles_ == Tiles::ThreadRows) {
    const int elements = elements_of(step, step.output.value);
    const std::string skipped = step.piece.number > 0 ? fmt::format("{} + ", step.piece.number * elements * 4) : "";
    line("for (int j = 0; j < {}; ++j) {{  // 4 columns, the same for all threads", elements / 4);
    ++indent_;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      if (!by_column(k)) continue;
      line("u32 taken{}[4];", k);
      line("load_words({1} + {2}j * 16, taken{0}[0], taken{0}[1], taken{0}[2], taken{0}[3]);", k, slot_text(step.inputs[k]), skipped);
    }
    raw("#pragma unroll");
    each("4 * j", "4 * j + 4");
    --indent_;
    raw("}");
  } else if (by_columns) {
    line("for (int j = 0; j < {}; ++j) {{  // 8 columns, two of them in this thread", out.layout->elements / 4);
    ++indent_;
    for (std::size_t k = 0; k < step.inputs.size(); ++k)
      if (by_column(k))
        line("float taken{0}[2]; load_words({1} + (j * 8 + lane % 4 * 2) * 4, taken{0}[0], taken{0}[1]);", k, slot_text(step.inputs[k]));
    raw("#pragma unroll");
    each("4 * j", "4 * j + 4");
    --indent_;
    raw("}");
  } else {
    each("0", std::to_string(elements_of(step, step.output.value)));
  }
}

}  // namespace heddle::codegen
