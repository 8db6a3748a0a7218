#include "codegen/emit/operands.h"

#include "codegen/emit/coordinates.h"
#include "codegen/emit/hand_over.h"
#include "codegen/emit/places.h"
#include "core/kernel/op_shapes.h"

namespace heddle::codegen {
namespace {

/// A vector of one element, which lies over all elements of a tile.
bool is_one(const EmitContext& emit, const Place& place) { return emit.tiles.values[place.value].shape == std::vector<std::int64_t>{1}; }

/// What a vector operand runs along.
std::int64_t axis_of(const EmitContext& emit, const Step& step, const TileOp& op, std::size_t input) {
  if (op.kind != "map") return integer_attr(op, "axis", 0);
  return map_lay(op, input, emit.tiles.values[step.inputs[input].value].shape, emit.tiles.values[step.output.value].shape) ==
         Lay::AlongColumns;
}

/// One number per row or column, in shared memory: f32, or 16 bits per row.
bool is_smem_vector(const EmitContext& emit, const Step& step, const TileOp& op, std::size_t input) {
  const Place& place = step.inputs[input];
  if (emit.tiles.kind == TileKind::WarpRows || place.kind != Place::Kind::Buffer || emit.tiles.values[place.value].shape.size() != 1 ||
      emit.program.buffers[place.index].registers)
    return false;
  const DType type = emit.kernel.values[place.value].dtype;
  return type == DType::F32 || (bits_of(type) == 16 && !is_one(emit, place) && axis_of(emit, step, op, input) == 0);
}

}  // namespace

/// Registers that another role handed over, and what a thread needs of vectors in shared memory.
void take_inputs(EmitContext& emit, const Step& step, const TileOp& op) {
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const Place& p = step.inputs[k];
    if (is_smem_vector(emit, step, op, k)) {
      if (is_one(emit, p)) {
        emit.text.line("float taken{0}[1]; load_word({1}, taken{0}[0]);", k, value_text(emit, p));
        continue;
      }
      if (axis_of(emit, step, op, k) == 1) continue;  // write_each_element() takes some at a time, to save registers
      emit.text.line("float taken{}[{}];", k, emit.tiles.rows_per_thread());
      if (emit.tiles.values[p.value].packed) {
        emit.text.raw("#pragma unroll");
        emit.text.line("for (int r = 0; r < {}; ++r) {{", emit.tiles.rows_per_thread());
        emit.text.line("  u32 half;");
        emit.text.line("  load_half({} + {} * 2, half);", slot_text(emit, p),
                       emit.tiles.kind == TileKind::ThreadRows ? "tid" : "(warp * 16 + lane / 4 + r * 8)");
        emit.text.line("  taken{}[r] = low_{}(half);", k, emit.kernel.values[p.value].dtype == DType::F16 ? "f16" : "bf16");
        emit.text.raw("}");
        continue;
      }
      if (emit.tiles.kind == TileKind::ThreadRows) {
        emit.text.line("load_word({} + tid * 4, taken{}[0]);", slot_text(emit, p), k);
        continue;
      }
      emit.text.raw("#pragma unroll");
      emit.text.line("for (int r = 0; r < 2; ++r) load_word({} + (warp * 16 + lane / 4 + r * 8) * 4, taken{}[r]);", slot_text(emit, p), k);
      continue;
    }
    if (p.kind != Place::Kind::Buffer || !emit.program.buffers[p.index].registers) continue;
    take_hand_over(emit, step, k);
  }
}

std::string input_array(const EmitContext& emit, const Step& step, std::size_t input) {
  const Place& p = step.inputs[input];
  return p.kind == Place::Kind::Variable ? register_text(emit, p) : fmt::format("taken{}", input);
}

std::string element_text(EmitContext& emit, const Step& step, const TileOp& op, std::size_t input, const ThreadTile& result) {
  const Place& p = step.inputs[input];
  const TiledValue& v = emit.tiles.values[p.value];
  if (is_smem_vector(emit, step, op, input) && is_one(emit, p)) return fmt::format("taken{}[0]", input);
  const bool alike = v.shape.size() == emit.tiles.values[step.output.value].shape.size();
  const bool by_row = v.shape.size() == 1 && axis_of(emit, step, op, input) == 0;
  const bool usual = (by_row ? result.usual_rows : result.usual) && (!v.layout || v.layout->usual);
  if (alike ? !emit.tiles.lies_alike(p.value, step.output.value) : !usual) {
    emit.refuse("operand", op,
                fmt::format("'{}' computes with '{}', which lies as {} and its result as {}: a copy can bring it there", op.name,
                            emit.kernel.values[p.value].name, emit.tiles.plan->values[p.value].text,
                            emit.tiles.plan->values[step.output.value].text));
    return "0.0f";
  }
  if (is_smem_vector(emit, step, op, input) && result.kind == ThreadTile::Kind::Matrix) {
    const bool columns = axis_of(emit, step, op, input) == 1;
    if (v.shape[0] == (columns ? result.cols : result.rows)) {
      if (columns && emit.tiles.kind == TileKind::ThreadRows) return fmt::format("__uint_as_float(taken{}[e & 3])", input);
      return fmt::format("taken{}[{}]", input, columns ? "e & 1" : emit.tiles.index_of_row(result));
    }
  }
  using Kind = ThreadTile::Kind;
  if (!v.layout || (v.packed && v.layout->kind == Kind::Rows)) {
    emit.refuse("operand", op, fmt::format("'{}' computes with an operand that is no number in registers", op.name));
    return "0.0f";
  }
  const std::string array = input_array(emit, step, input);
  // Element 2 * `pair` + (e & 1): neighbours are of the same row, also where two of them share a register.
  const char* type = emit.kernel.values[p.value].dtype == DType::F16 ? "f16" : "bf16";
  const auto of_pair = [&](const std::string& pair) {
    return v.packed ? fmt::format("(e & 1 ? high_{0}({1}[{2}]) : low_{0}({1}[{2}]))", type, array, pair)
                    : fmt::format("{}[{} * 2 + (e & 1)]", array, pair);
  };
  if (v.layout->kind == result.kind) return v.packed ? of_pair("e / 2") : array + "[e]";
  const std::int64_t axis = axis_of(emit, step, op, input);
  if (result.kind == Kind::Matrix && v.layout->kind == Kind::Rows && axis == 0)
    return fmt::format("{}[{}]", array, emit.tiles.index_of_row(result));
  if (result.kind == Kind::Matrix && v.layout->kind == Kind::Columns && axis == 1) {
    if (emit.tiles.kind == TileKind::Fragments) return of_pair("e / 4");
    return v.packed ? of_pair(fmt::format("e % {} / 2", result.columns)) : fmt::format("{}[e % {}]", array, result.columns);
  }
  emit.refuse("operand", op, fmt::format("'{}' has an operand that does not lie over its result thread by thread", op.name));
  return "0.0f";
}

std::string begin_result(EmitContext& emit, const Step& step) {
  const Variable& v = emit.role->variables[step.output.index];
  if (!v.moves) return register_text(emit, step.output);
  emit.text.line("{} made[{}];", emit.tiles.type_of(step.output.value), emit.tiles.words_of(step, step.output.value));
  return "made";
}

void end_result(EmitContext& emit, const Step& step) {
  const Variable& v = emit.role->variables[step.output.index];
  if (!v.moves) return;
  Place to = step.output;
  emit.text.raw("#pragma unroll");
  emit.text.line("for (int r = 0; r < {}; ++r) {{", emit.tiles.words_of(step, step.output.value));
  for (int c = v.copies - 1; c > 0; --c) {
    Place from = to;
    to.copy = c;
    from.copy = c - 1;
    emit.text.line("  {}[r] = {}[r];", register_text(emit, to), register_text(emit, from));
  }
  to.copy = 0;
  emit.text.line("  {}[r] = made[r];", register_text(emit, to));
  emit.text.raw("}");
}

void write_each_element(EmitContext& emit, const Step& step, const TileOp& op, const std::string& to, const ElementText& text) {
  const TiledValue& out = emit.tiles.values[step.output.value];
  const char* type = emit.kernel.values[step.output.value].dtype == DType::F16 ? "f16" : "bf16";
  const auto body = [&](const std::string& target) {
    for (const std::string& before : text.before) emit.text.raw(before);
    emit.text.line("{} = {};", target, text.value);
  };
  // Elements from `first` up to `last`.
  const auto each = [&](const std::string& first, const std::string& last) {
    if (!out.packed && text.before.empty()) return emit.text.line("for (int e = {}; e < {}; ++e) {}[e] = {};", first, last, to, text.value);
    emit.text.open("for (int e{0} = {1}; e{0} < {2}; {3}) {{", out.packed ? "0" : "", first, last, out.packed ? "e0 += 2" : "++e");
    if (out.packed) {
      emit.text.raw("float pair[2];");
      emit.text.raw("#pragma unroll");
      emit.text.open("for (int e = e0; e < e0 + 2; ++e) {{");
      body("pair[e - e0]");
      emit.text.close();
      emit.text.line("{}[e0 / 2] = pack_{}(pair[0], pair[1]);", to, type);
    } else {
      body(to + "[e]");
    }
    emit.text.close();
  };
  emit.text.raw("#pragma unroll");
  const auto by_column = [&](std::size_t k) {
    return is_smem_vector(emit, step, op, k) && !is_one(emit, step.inputs[k]) && axis_of(emit, step, op, k) == 1;
  };
  bool by_columns = false;
  for (std::size_t k = 0; k < step.inputs.size(); ++k) by_columns = by_columns || by_column(k);
  if (by_columns && emit.tiles.kind == TileKind::ThreadRows) {
    const int elements = emit.tiles.elements_of(step, step.output.value);
    const std::string skipped = step.piece.number > 0 ? fmt::format("{} + ", step.piece.number * elements * 4) : "";
    emit.text.open("for (int j = 0; j < {}; ++j) {{  // 4 columns, the same for all threads", elements / 4);
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      if (!by_column(k)) continue;
      emit.text.line("u32 taken{}[4];", k);
      emit.text.line("load_words({1} + {2}j * 16, taken{0}[0], taken{0}[1], taken{0}[2], taken{0}[3]);", k, slot_text(emit, step.inputs[k]),
                     skipped);
    }
    emit.text.raw("#pragma unroll");
    each("4 * j", "4 * j + 4");
    emit.text.close();
  } else if (by_columns) {
    emit.text.open("for (int j = 0; j < {}; ++j) {{  // 8 columns, two of them in this thread", out.layout->elements / 4);
    for (std::size_t k = 0; k < step.inputs.size(); ++k)
      if (by_column(k))
        emit.text.line("float taken{0}[2]; load_words({1} + (j * 8 + lane % 4 * 2) * 4, taken{0}[0], taken{0}[1]);", k,
                       slot_text(emit, step.inputs[k]));
    emit.text.raw("#pragma unroll");
    each("4 * j", "4 * j + 4");
    emit.text.close();
  } else {
    each("0", std::to_string(emit.tiles.elements_of(step, step.output.value)));
  }
}

}  // namespace heddle::codegen
