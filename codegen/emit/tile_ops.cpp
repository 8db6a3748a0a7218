// Tile instructions that a role's own threads execute.
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

constexpr std::array<Function, 21> kFunctions{{
    {"add", 2, "{0} + {1}"},
    {"sub", 2, "{0} - {1}"},
    {"mul", 2, "{0} * {1}"},
    {"div", 2, "{0} * recip_({1})"},
    {"max", 2, "fmaxf({0}, {1})"},
    {"min", 2, "fminf({0}, {1})"},
    {"fma", 3, "fmaf({0}, {1}, {2})"},
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

}  // namespace

void Writer::write_compute(const Step& step) {
  const TileOp& op = op_of(kernel_, step.op);
  if (!op.outputs.empty() && step.output.kind == Place::Kind::Variable && !values_[step.output.value].layout) return;
  raw("{");
  ++indent_;
  take_inputs(step, op);
  if (op.kind == "fill" || op.kind == "elementwise" || op.kind == "exp2" || op.kind == "broadcast")
    write_elements(step, op);
  else if (op.kind == "reduce_max" || op.kind == "reduce_sum")
    write_reduction(step, op, op.kind == "reduce_max");
  else if (op.kind == "convert" || op.kind == "copy")
    write_convert(step, op);
  else if (op.kind == "mask")
    write_mask(step, op);
  else if (op.kind == "smem_store")
    write_smem_store(step, op);
  else if (op.kind == "smem_load")
    write_smem_load(step, op);
  else if (op.kind == "load")
    write_global_load(step, op);
  else
    refuse("kind", op, fmt::format("'{}' is a {}, which cannot be written yet", op.name, op.kind));
  --indent_;
  raw("}");
}

bool Writer::is_smem_vector(const Place& place) const {
  return products_ && place.kind == Place::Kind::Buffer && values_[place.value].shape.size() == 1 &&
         kernel_.values[place.value].dtype == DType::F32 && !program_.buffers[place.index].registers;
}

/// Registers that another role handed over, and what a thread needs of vectors in shared memory.
void Writer::take_inputs(const Step& step, const TileOp& op) {
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const Place& p = step.inputs[k];
    if (is_smem_vector(p)) {
      if (integer_attr(op, "axis", 0) == 1) continue;  // write_elements() takes two at a time, to save registers
      line("float taken{}[2];", k);
      raw("#pragma unroll");
      line("for (int r = 0; r < 2; ++r) load_word({} + (warp * 16 + lane / 4 + r * 8) * 4, taken{}[r]);", slot_text(p), k);
      continue;
    }
    if (p.kind != Place::Kind::Buffer || !program_.buffers[p.index].registers) continue;
    line("{} taken{}[{}];", type_of(p.value), k, words_of(p.value));
    raw("#pragma unroll");
    line("for (int r = 0; r < {}; ++r) load_word({} + (r * {} + tid) * 4, taken{}[r]);", words_of(p.value), slot_text(p), 32 * role_->warps,
         k);
  }
}

std::string Writer::input_array(const Step& step, std::size_t input) {
  const Place& p = step.inputs[input];
  return p.kind == Place::Kind::Variable ? register_text(p) : fmt::format("taken{}", input);
}

std::string Writer::begin_result(const Step& step) {
  const Variable& v = role_->variables[step.output.index];
  if (!v.moves) return register_text(step.output);
  line("{} made[{}];", type_of(step.output.value), words_of(step.output.value));
  return "made";
}

void Writer::end_result(const Step& step) {
  const Variable& v = role_->variables[step.output.index];
  if (!v.moves) return;
  Place to = step.output;
  raw("#pragma unroll");
  line("for (int r = 0; r < {}; ++r) {{", words_of(step.output.value));
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
  if (is_smem_vector(p) && result.kind == Layout::Kind::Matrix) {
    const bool columns = integer_attr(op, "axis", 0) == 1;
    if (v.shape[0] == (columns ? result.cols : result.rows)) return fmt::format("taken{}[{}]", input, columns ? "e & 1" : "(e >> 1) & 1");
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
  const std::int64_t axis = integer_attr(op, "axis", 0);
  if (result.kind == Kind::Matrix && v.layout->kind == Kind::Rows && axis == 0)
    return products_ ? array + "[(e >> 1) & 1]" : fmt::format("{}[e / {}]", array, result.columns);
  if (result.kind == Kind::Matrix && v.layout->kind == Kind::Columns && axis == 1) {
    if (products_) return of_pair("e / 4");
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
      expression = fmt::format("exp2_({})", operands.at(0));
    else if (scale)
      expression = fmt::format("exp2_(fmaf({}, {}, -{}))", raw_first, float_literal(*scale), operands[1]);
    else
      expression = fmt::format("exp2_({} - {})", operands[0], operands[1]);
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
  raw("#pragma unroll");
  const bool by_columns = integer_attr(op, "axis", 0) == 1 &&
                          std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& p) { return is_smem_vector(p); });
  if (by_columns) {
    line("for (int j = 0; j < {}; ++j) {{  // 8 columns, two of them in this thread", out.layout->elements / 4);
    ++indent_;
    for (std::size_t k = 0; k < step.inputs.size(); ++k)
      if (is_smem_vector(step.inputs[k]))
        line("float taken{0}[2]; load_words({1} + (j * 8 + lane % 4 * 2) * 4, taken{0}[0], taken{0}[1]);", k, slot_text(step.inputs[k]));
    raw("#pragma unroll");
    line("for (int e = 4 * j; e < 4 * j + 4; ++e) {}[e] = {};", to, expression);
    --indent_;
    raw("}");
  } else {
    line("for (int e = 0; e < {}; ++e) {}[e] = {};", out.layout->elements, to, expression);
  }
  end_result(step);
}

bool Writer::is_lazy_sum(std::size_t v) const {
  if (!products_ || !is_zero_fill(v)) return false;
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

void Writer::write_reduction(const Step& step, const TileOp& op, bool maximum) {
  const Value& out = values_[step.output.value];
  const Value& in = values_[step.inputs.at(0).value];
  if (integer_attr(op, "axis", 1) != 1 || !in.layout || in.layout->kind != Layout::Kind::Matrix || in.packed || out.packed || !out.layout ||
      out.layout->kind != Layout::Kind::Rows)
    return refuse("reduction", op, fmt::format("'{}' is no reduction of an f32 tile along its rows", op.name));
  float scale = number_attr(op, "scale").value_or(1.0f);
  if (!std::isfinite(scale) || (maximum && scale <= 0))
    return refuse("reduction", op, fmt::format("'{}' has a scale that cannot be taken out of the reduction", op.name));
  if (flag_attr(op, "mean")) scale /= static_cast<float>(in.layout->cols);
  const std::string from = input_array(step, 0);
  const int rows = out.layout->elements;
  const std::string combine = maximum ? "fmaxf({0}, {1})" : "{0} + {1}";
  const auto combined = [&](const std::string& a, const std::string& b) { return fmt::format(fmt::runtime(combine), a, b); };
  // Two partial results per row, so that fewer operations wait for each other.
  line("float even[{0}], odd[{0}];", rows);
  raw("#pragma unroll");
  line("for (int r = 0; r < {}; ++r) {{", rows);
  ++indent_;
  const std::string first = products_ ? "2 * r" : fmt::format("{} * r", in.layout->columns);
  const int steps = products_ ? in.layout->elements / 4 : in.layout->columns / 2;
  const int stride = products_ ? 4 : 2;
  line("even[r] = {0}[{1}], odd[r] = {0}[{1} + 1];", from, first);
  raw("#pragma unroll");
  line("for (int j = 1; j < {}; ++j) {{", steps);
  line("  even[r] = {};", combined("even[r]", fmt::format("{}[{} + {} * j]", from, first, stride)));
  line("  odd[r] = {};", combined("odd[r]", fmt::format("{}[{} + {} * j + 1]", from, first, stride)));
  raw("}");
  line("even[r] = {};", combined("even[r]", "odd[r]"));
  const bool lazy = !maximum && step.output.kind == Place::Kind::Variable && is_lazy_sum(step.output.value);
  for (int mask = lazy ? 0 : products_ ? 1 : 16; products_ ? mask > 0 && mask <= 2 : mask >= 1; mask = products_ ? mask * 2 : mask / 2)
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

void Writer::write_convert(const Step& step, const TileOp& op) {
  const Value& out = values_[step.output.value];
  const Value& in = values_[step.inputs.at(0).value];
  if (!in.layout || !out.layout || in.layout->kind != out.layout->kind || in.layout->elements != out.layout->elements ||
      in.layout->elements % 2 != 0)
    return refuse("convert", op, fmt::format("'{}' does not convert registers into registers of the same shape", op.name));
  const std::string from = input_array(step, 0), to = begin_result(step);
  const char* type = kernel_.values[(out.packed ? step.output : step.inputs[0]).value].dtype == DType::F16 ? "f16" : "bf16";
  raw("#pragma unroll");
  if (in.packed == out.packed && kernel_.values[step.output.value].dtype == kernel_.values[step.inputs[0].value].dtype)
    line("for (int e = 0; e < {}; ++e) {}[e] = {}[e];", words_of(step.output.value), to, from);
  else if (out.packed && !in.packed)
    line("for (int e = 0; e < {0}; ++e) {1}[e] = pack_{3}({2}[2 * e], {2}[2 * e + 1]);", words_of(step.output.value), to, from, type);
  else if (in.packed && !out.packed)
    line("for (int e = 0; e < {0}; ++e) {1}[2 * e] = low_{3}({2}[e]), {1}[2 * e + 1] = high_{3}({2}[e]);", words_of(step.inputs[0].value),
         to, from, type);
  else
    refuse("convert", op, fmt::format("'{}' converts between two 16-bit types", op.name));
  end_result(step);
}

void Writer::write_mask(const Step& step, const TileOp& op) {
  const Value& in = values_[step.inputs.at(0).value];
  const auto value = number_attr(op, "value").value_or(0.0f);
  if (!products_ || !in.layout || in.layout->kind != Layout::Kind::Matrix || in.packed || step.output.kind != Place::Kind::Variable ||
      !std::isfinite(value))
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

void Writer::write_smem_store(const Step& step, const TileOp& op) {
  const Value& in = values_[step.inputs.at(0).value];
  const auto panels = panels_of(step.output.value, op);
  if (!panels) return;
  if (products_ && in.layout && in.layout->kind == Layout::Kind::Matrix && !in.packed && in.shape == values_[step.output.value].shape &&
      kernel_.values[step.output.value].dtype == DType::F32)
    return write_smem_store_f32(step, *panels);
  if (!in.layout || in.layout->kind != Layout::Kind::Matrix || !in.packed || !values_[step.output.value].packed ||
      in.shape != values_[step.output.value].shape)
    return refuse("smem_store", op, fmt::format("'{}' does not store a 16-bit register tile", op.name));
  const std::string from = input_array(step, 0);
  if (products_) {
    // stmatrix: 8 x 8 blocks, four at a time, 16 columns of the warp's 16 rows; 16-byte chunk c of row r lies at c ^ (r & 7).
    // Steps of j flip bits of the address that nothing else sets.
    const auto matrices = static_cast<int>(in.layout->cols / 16 / step.piece.count);
    const std::string of = from + (step.piece.number > 0 ? fmt::format("[{} + 4 * j", step.piece.number * matrices * 4) : "[4 * j");
    line("u32 to = {} + (warp * 16 + (lane & 15)) * 128 + ((lane >> 4) ^ (lane & 7)) * 16;", slot_text(step.output));
    raw("keep_in_register(to);");
    raw("#pragma unroll");
    line("for (int j = 0; j < {}; ++j)", matrices);
    line("  store_matrices((to ^ j % 4 * 32) + j / 4 * {0}, {1}], {1} + 1], {1} + 2], {1} + 3]);", panels->bytes, of);
  } else {
    line("const u32 to = {};", slot_text(step.output));
    raw("#pragma unroll");
    line("for (int j = 0; j < {}; ++j) {{", words_of(step.inputs[0].value) / 4);
    line("  const int row = warp * {} + j / {}, panel = j % {};", in.layout->rows / 4, panels->count, panels->count);
    line("  store_words(to + panel * {0} + row * 512 + lane * 16, {1}[4 * j], {1}[4 * j + 1], {1}[4 * j + 2], {1}[4 * j + 3]);",
         panels->bytes, from);
    raw("}");
  }
}

/// Panels of 32 columns: two neighbours of a row at a time, 16-byte chunk c of row r at c ^ (r & 7). Half a warp stores four rows at once,
/// and rows r and r ^ 1 have the same two chunks for the same eight columns: odd rows store those sixteen columns further, so that no two
/// lanes meet in a bank.
void Writer::write_smem_store_f32(const Step& step, const Panels& panels) {
  const std::string from = input_array(step, 0);
  raw("const bool odd = lane & 4;");
  line("u32 to = {} + (warp * 16 + lane / 4) * 128 + ((lane % 4 / 2) ^ (lane / 4) ^ (lane & 4)) * 16 + lane % 2 * 8;",
       slot_text(step.output));
  raw("keep_in_register(to);");
  raw("#pragma unroll");
  const int pairs = values_[step.inputs[0].value].layout->elements / 2 / step.piece.count;
  const std::string of = from + (step.piece.number > 0 ? fmt::format("[{} + 2 * ", step.piece.number * pairs * 2) : "[2 * ");
  line("for (int j = 0; j < {}; ++j)", pairs);
  line("  store_pair((to ^ j / 2 % 4 * 32) + j / 8 * {0} + j % 2 * 1024, odd ? {1}(j ^ 4)] : {1}j], odd ? {1}(j ^ 4) + 1] : {1}j + 1]);",
       panels.bytes, of);
}

void Writer::write_smem_load(const Step& step, const TileOp& op) {
  const Value& out = values_[step.output.value];
  const Place& from = step.inputs.at(0);
  const auto panels = panels_of(from.value, op);
  if (!panels) return;
  if (products_ || !out.layout || out.layout->kind != Layout::Kind::Matrix || !out.packed || out.shape != values_[from.value].shape)
    return refuse("smem_load", op, fmt::format("'{}' does not load a 16-bit tile in a kernel without wgmma", op.name));
  line("const u32 from = {};", slot_text(from));
  const std::string to = begin_result(step);
  raw("#pragma unroll");
  line("for (int j = 0; j < {}; ++j) {{", words_of(step.output.value) / 4);
  line("  const int row = warp * {} + j / {}, panel = j % {};", out.layout->rows / 4, panels->count, panels->count);
  line("  load_words(from + panel * {0} + row * 512 + lane * 16, {1}[4 * j], {1}[4 * j + 1], {1}[4 * j + 2], {1}[4 * j + 3]);",
       panels->bytes, to);
  raw("}");
  end_result(step);
}

}  // namespace heddle::codegen
