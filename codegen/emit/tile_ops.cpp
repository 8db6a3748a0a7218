#include "codegen/emit/tile_ops.h"

#include <array>
#include <cmath>

#include "codegen/emit/operands.h"
#include "codegen/emit/shared_access.h"
#include "codegen/emit/sizes.h"
#include "codegen/emit/tensor.h"
#include "core/kernel/op_shapes.h"

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

/// Refuses what is written for the layouts of Tiles only.
bool lies_as_usual(EmitContext& emit, const Step& step, const TileOp& op) {
  const bool by_row = is_reduction(op.kind) && integer_attr(op, "axis", 1) == 1;
  const auto usual = [&](const Place& p) {
    const auto& layout = emit.tiles.values[p.value].layout;
    if (p.kind == Place::Kind::None || !layout || layout->usual || (by_row && layout->usual_rows)) return true;
    emit.refuse("layout", op,
                fmt::format("'{}' is written for registers that lie as {}, and '{}' lies as {}: a copy can bring it there", op.name,
                            emit.tiles.kind == TileKind::Fragments  ? "accumulator"
                            : emit.tiles.kind == TileKind::WarpRows ? "warp_rows"
                                                                    : "thread_rows",
                            emit.kernel.values[p.value].name, emit.tiles.plan->values[p.value].text));
    return false;
  };
  bool all = usual(step.output);
  for (const Place& p : step.inputs) all = usual(p) && all;
  return all;
}

void write_elements(EmitContext& emit, const Step& step, const TileOp& op) {
  const TiledValue& out = emit.tiles.values[step.output.value];
  if (out.packed || step.output.kind != Place::Kind::Variable)
    return emit.refuse("operand", op, fmt::format("'{}' does not compute f32 into registers", op.name));
  std::vector<std::string> operands;
  for (std::size_t k = 0; k < step.inputs.size(); ++k) operands.push_back(element_text(emit, step, op, k, *out.layout));
  for (const char* name : {"scale", "value"})
    if (const auto number = number_attr(op, name); number && !std::isfinite(*number))
      return emit.refuse("attribute", op, fmt::format("attribute '{}' of '{}' is no finite number", name, op.name));
  const std::string raw_first = operands.empty() ? "" : operands[0];
  const auto scale = factor_text(emit, op);
  if (scale && !operands.empty()) operands[0] = fmt::format("{} * {}", operands[0], *scale);
  std::string expression;
  if (op.kind == "fill") {
    expression = float_literal(number_attr(op, "value").value_or(0.0f));
  } else if (op.kind == "broadcast") {
    expression = operands.at(0);
  } else if (op.kind == "exp2") {
    if (operands.size() < 2)
      expression = operands.at(0);
    else if (scale)
      expression = fmt::format("fmaf({}, {}, -{})", raw_first, *scale, operands[1]);
    else
      expression = fmt::format("{} - {}", operands[0], operands[1]);
    // Every so many elements without the special function unit: e * percent / 100 grows by one there.
    const std::int64_t percent = integer_attr(op, "emulated", 0);
    if (percent > 0 && !emit.program.blackwell())
      return emit.refuse("attribute", op, fmt::format("'{}' says emulated, and in a text for Hopper every power is MUFU's", op.name));
    expression = percent > 0 ? fmt::format("(e + 1) * {0} / 100 > e * {0} / 100 ? exp2_poly_({1}) : exp2_({1})", percent, expression)
                             : fmt::format("exp2_({})", expression);
  } else {
    const std::string name = text_attr(op, "fn");
    const Function* function = nullptr;
    for (const Function& f : kFunctions)
      if (f.name == name) function = &f;
    if (!function) return emit.refuse("function", op, fmt::format("'{}' computes a function that is not known", op.name));
    if (static_cast<int>(operands.size()) < function->operands) operands.push_back(float_literal(number_attr(op, "value").value_or(0.0f)));
    if (static_cast<int>(operands.size()) != function->operands)
      return emit.refuse("function", op, fmt::format("'{}' has the wrong number of operands", op.name));
    if (name == "sub" && scale) {
      expression = fmt::format("fmaf({}, {}, -({}))", raw_first, *scale, operands[1]);
    } else {
      if (scale) operands[0] = "(" + operands[0] + ")";
      operands.resize(3);
      expression = fmt::format(fmt::runtime(function->text), operands[0], operands[1], operands[2]);
    }
  }
  const std::string to = begin_result(emit, step);
  write_each_element(emit, step, op, to, {{}, expression});
  end_result(emit, step);
}

}  // namespace

void write_compute(EmitContext& emit, const Step& step) {
  const TileOp& op = op_of(emit.kernel, step.op);
  if (!op.outputs.empty() && step.output.kind == Place::Kind::Variable && !emit.tiles.values[step.output.value].layout) return;
  if (!moves_narrow(op))
    for (const std::vector<Place>& places : {step.inputs, {step.output}})
      for (const Place& p : places)
        if (p.kind != Place::Kind::None && emit.tiles.values[p.value].layout && emit.tiles.values[p.value].per_register > 2)
          return emit.refuse("operand", op,
                             fmt::format("'{}' computes with numbers of type {} ('{}'), which must be converted first", op.name,
                                         to_string(emit.kernel.values[p.value].dtype), emit.kernel.values[p.value].name));
  if (op.kind == "tmem_load") return write_tensor_load(emit, step, op);
  if (op.kind == "tmem_store") return write_tensor_store(emit, step, op);
  const bool rows = emit.tiles.kind == TileKind::ThreadRows;
  if ((is_reduction(op.kind) || op.kind == "mask") && !lies_as_usual(emit, step, op)) return;
  emit.text.open();
  take_inputs(emit, step, op);
  if (op.kind == "fill" && step.output.kind == Place::Kind::Buffer && emit.program.buffers[step.output.index].tensor())
    write_tensor_fill(emit, step, op);
  else if (op.kind == "fill" || op.kind == "elementwise" || op.kind == "exp2" || op.kind == "broadcast")
    write_elements(emit, step, op);
  else if (op.kind == "map")
    write_map(emit, step, op);
  else if (op.kind == "reduce_max" || op.kind == "reduce_min" || op.kind == "reduce_sum")
    rows ? write_row_reduction(emit, step, op) : write_reduction(emit, step, op);
  else if (op.kind == "convert" || op.kind == "copy")
    write_convert(emit, step, op);
  else if (op.kind == "mask")
    rows ? write_row_mask(emit, step, op) : write_mask(emit, step, op);
  else if (op.kind == "smem_store" || op.kind == "smem_load")
    write_access(emit, step, op, op.kind == "smem_store");
  else if (op.kind == "load")
    write_global_load(emit, step, op);
  else if (op.kind == "store")
    write_global_store(emit, step, op);
  else
    emit.refuse("kind", op, fmt::format("'{}' is a {}, which cannot be written yet", op.name, op.kind));
  emit.text.close();
}

}  // namespace heddle::codegen
