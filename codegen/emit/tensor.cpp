#include "codegen/emit/tensor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "codegen/emit/operands.h"
#include "codegen/emit/places.h"
#include "codegen/emit/steps.h"
#include "codegen/emit/wgmma.h"
#include "core/kernel/op_shapes.h"

namespace heddle::codegen {
namespace {

constexpr int kWidest = 32;  ///< columns of one load or store, which takes so many neighbouring registers: for 64, ptxas spills

/// The instruction descriptor of tcgen05.mma with kind::f16 and kind::f8f6f4 (PTX ISA 9.0, table of its bits).
std::uint32_t product_bits(const ProductShape& shape, int m) {
  const auto code = [](DType type) { return static_cast<std::uint32_t>(type == DType::Bf16 || type == DType::F8e5m2); };
  constexpr std::uint32_t kF32 = 1;  // of the result
  return kF32 << 4 | code(shape.a) << 7 | code(shape.b) << 10 | static_cast<std::uint32_t>(shape.a_mn_major) << 15 |
         static_cast<std::uint32_t>(shape.b_mn_major) << 16 | static_cast<std::uint32_t>(shape.n / 8) << 17 |
         static_cast<std::uint32_t>(m / 16) << 24;
}

/// Calls write(width, first register) so that all are moved.
template <class Write>
void in_chunks(int registers, Write write) {
  for (int at = 0, width = kWidest; at < registers; at += width) {
    while (width > registers - at) width /= 2;
    write(width, at);
  }
}

}  // namespace

void write_tensor_product(EmitContext& emit, const Step& step) {
  const TileOp& op = op_of(emit.kernel, step.op);
  const Place &a = step.inputs.at(0), &b = step.inputs.at(1), &d = step.output;
  const std::vector<std::int64_t>&as = emit.tiles.values[a.value].shape, &bs = emit.tiles.values[b.value].shape,
        &ds = emit.tiles.values[d.value].shape;
  const bool ta = flag_attr(op, "transpose_a"), tb = flag_attr(op, "transpose_b");
  const auto unfit = [&](const std::string& why) { emit.refuse("product", op, fmt::format("'{}' {}", op.name, why)); };
  const auto lies = [&](const Place& p, bool tensor) {
    return p.kind == Place::Kind::Buffer && !emit.program.buffers[p.index].registers && emit.program.buffers[p.index].tensor() == tensor;
  };
  if (!lies(d, true)) return unfit("needs its accumulator in tensor memory");
  const bool from_tensor = lies(a, true);
  if (!lies(b, false) || (!from_tensor && !lies(a, false)))
    return unfit("needs its first operand in shared or tensor memory, its second in shared memory");
  if (as.size() != 2 || bs.size() != 2 || ds.size() != 2 || as[ta] != 128) return unfit("is no mma of 128 rows");
  const DType type = emit.kernel.values[a.value].dtype, b_type = emit.kernel.values[b.value].dtype;
  const bool bytes = is_byte_float(type);
  if (!lies_in_spans(emit, b.value, {128}, op) || (!from_tensor && !lies_in_spans(emit, a.value, {128}, op))) return;
  if (emit.kernel.values[d.value].dtype != DType::F32 || (bytes ? !is_byte_float(b_type) : b_type != type) ||
      (!bytes && type != DType::Bf16 && type != DType::F16))
    return unfit("multiplies neither bf16 nor f16 nor 8-bit floats into f32");
  if (bytes && (ta || !tb || from_tensor)) return unfit("multiplies 8-bit floats that do not lie along K in shared memory");
  if (from_tensor && (ta || emit.program.pair))
    return unfit("takes its first operand from tensor memory transposed, or for a pair of blocks");
  const std::int64_t k = as[!ta], n = ds[1], column = integer_attr(op, "column", 0), row = integer_attr(op, "row", 0);
  const std::int64_t panel = bytes ? 128 : 64, deep = bytes ? 32 : 16;  // columns of 128 bytes; K of one mma
  if (n % (emit.program.pair ? 32 : 16) != 0 || n > 256 || k % deep != 0 || (!from_tensor && !ta && k % panel != 0) ||
      (tb ? k : n) % panel != 0 || column % (tb ? 8 : panel) != 0 || column < 0 || column + n > bs[tb ? 0 : 1] ||
      row % (tb ? panel : 16) != 0 || row < 0 || row + k > bs[tb ? 1 : 0] || (emit.program.pair && (column != 0 || n != bs[tb ? 0 : 1])))
    return unfit(fmt::format("has extents that do not make whole swizzled panels of {} columns", panel));
  std::string add = "1";  // of the first step along K
  if (step.inputs.size() < 3) {
    add = "k";
  } else if (step.inputs[2].iteration < 0 && step.inputs[2].iteration != kPerTile && is_zero_fill(emit, step.inputs[2].value)) {
    const std::int64_t first = emit.section->first - 1 - step.inputs[2].iteration;  // whose sum begins with the prologue's zero
    if (emit.section->loop)
      add = fmt::format("k | (i != {})", first);
    else if (step.inputs[2].iteration == -1)
      add = "k";
  }
  const std::int64_t rows = emit.program.pair && tb ? bs[0] / 2 : bs[0];  // of B as it is stored here
  emit.text.open();
  if (from_tensor)
    emit.text.line("const u32 a = {};", tensor_text(emit, "tensor", a, 0));
  else
    emit.text.line("const u64 a = tensor_matrix({}, {});", matrix_text(emit, a), ta ? as[0] * 128 : 16);
  const std::int64_t skipped = tb ? (row / panel * rows + column) * 128 : (column / 64 * rows + row) * 128;
  emit.text.line("const u64 b = tensor_matrix({}{}, {});", matrix_text(emit, b), skipped > 0 ? fmt::format(" + {}", skipped) : "",
                 tb ? 16 : rows * 128);
  // A thread that does nothing else has the time of an mma for each turn of the loop; written out, ptxas would hold the descriptors of
  // all of them in registers.
  emit.text.raw(emit.one_thread ? "#pragma unroll 1" : "#pragma unroll");
  emit.text.line("for (int k = 0; k < {}; ++k)", k / deep);
  // K-major: a panel's columns of K, 32 bytes further per step. M- or N-major: 16 rows of 128 bytes further, panels of M or N apart.
  // In tensor memory two numbers share a column.
  const std::string a_tile = from_tensor ? "a + k * 8"
                             : ta        ? "behind(a, k * 2048)"
                                         : fmt::format("behind(a, k / 4 * {} + k % 4 * 32)", as[0] * 128);
  const std::string b_tile = tb ? fmt::format("behind(b, k / 4 * {} + k % 4 * 32)", rows * 128) : "behind(b, k * 2048)";
  emit.text.line("  tensor_product{}{}{}({}, {}, {}, {:#x}u, {});", from_tensor ? "_ts" : "", bytes ? "_f8" : "",
                 emit.program.pair ? "_pair" : "", tensor_text(emit, "tensor", d, 0), a_tile, b_tile,
                 product_bits({static_cast<int>(n), false, ta, !tb, type, b_type}, emit.program.pair ? 256 : 128), add);
  emit.text.close();
}

void write_signal(EmitContext& emit, const Step& step) {
  emit.text.line("{}tensor_signal{}({});  // {} {}", step.only_last ? fmt::format("if (i >= {}) ", end_text(emit, *emit.section, 1)) : "",
                 emit.program.pair ? "_pair" : "", barrier_text(emit, step.barrier, step.cursor),
                 emit.program.barriers[step.barrier].full ? "full" : "empty", barrier_name(emit, step.barrier));
}

void write_tensor_load(EmitContext& emit, const Step& step, const TileOp& op) {
  const Place& from = step.inputs.at(0);
  if (from.kind != Place::Kind::Buffer || !emit.program.buffers[from.index].tensor() || step.output.kind != Place::Kind::Variable)
    return emit.refuse("tmem_load", op, fmt::format("'{}' does not read tensor memory into registers", op.name));
  const bool packed = emit.tiles.values[step.output.value].packed;
  if (emit.kernel.values[from.value].dtype != emit.kernel.values[step.output.value].dtype)
    return emit.refuse("tmem_load", op, fmt::format("'{}' converts on the way", op.name));
  const int words = emit.tiles.words_of(step, step.output.value);
  const int first = static_cast<int>(integer_attr(op, "column", 0)) / (packed ? 2 : 1) + step.piece.number * words;
  const bool moves = emit.role->variables[step.output.index].moves;
  if (moves) emit.text.open();
  const std::string to = begin_result(emit, step);
  in_chunks(words, [&](int width, int at) {
    emit.wrappers.tensor_loads.insert(width);
    emit.text.line("tensor_load_n{}<{}>({}, {});", width, at, tensor_text(emit, "own", from, first + at), to);
  });
  if (!moves) return emit.notes.loading.push_back(&step);
  emit.text.raw("tensor_await_loads();");
  emit.text.line("{}({});", packed ? "keep" : "pin", to);
  end_result(emit, step);
  emit.text.close();
}

void write_tensor_store(EmitContext& emit, const Step& step, const TileOp& op) {
  const Place& from = step.inputs.at(0);
  const bool handed_over = from.kind == Place::Kind::Buffer && emit.program.buffers[from.index].registers;
  if ((from.kind != Place::Kind::Variable && !handed_over) || step.output.kind != Place::Kind::Buffer ||
      !emit.program.buffers[step.output.index].tensor() ||
      emit.kernel.values[from.value].dtype != emit.kernel.values[step.output.value].dtype)
    return emit.refuse("tmem_store", op, fmt::format("'{}' does not write a register tile to tensor memory as it is", op.name));
  const int words = emit.tiles.words_of(step, from.value), first = step.piece.number * words;
  if (handed_over) emit.text.open();
  take_inputs(emit, step, op);
  in_chunks(words, [&](int width, int at) {
    emit.wrappers.tensor_stores.insert(width);
    emit.text.line("tensor_store_n{}<{}>({}, {});", width, at, tensor_text(emit, "own", step.output, first + at),
                   input_array(emit, step, 0));
  });
  if (!handed_over) return;
  emit.text.close();
}

void write_tensor_fill(EmitContext& emit, const Step& step, const TileOp& op) {
  const float number = number_attr(op, "value").value_or(0.0f);
  if (emit.kernel.values[step.output.value].dtype != DType::F32 || !std::isfinite(number))
    return emit.refuse("fill", op, fmt::format("'{}' does not fill tensor memory with a finite f32", op.name));
  constexpr int kAtOnce = 32;  // registers that hold the number
  const int columns = columns_of(emit.kernel, emit.program.params, step.output.value).count;
  emit.text.line("float same[{}];", kAtOnce);
  emit.text.raw("#pragma unroll");
  emit.text.line("for (int e = 0; e < {}; ++e) same[e] = {};", kAtOnce, float_literal(number));
  for (int at = 0, width = kAtOnce; at < columns; at += width) {
    while (width > columns - at) width /= 2;
    emit.wrappers.tensor_stores.insert(width);
    emit.text.line("tensor_store_n{}<0>({}, same);", width, tensor_text(emit, "own", step.output, at));
  }
}

void write_await_loads(EmitContext& emit) {
  emit.text.raw("tensor_await_loads();");
  std::set<std::string> done;
  for (const Step* step : std::exchange(emit.notes.loading, {})) {
    const std::string loaded = register_text(emit, step->output);
    if (done.insert(loaded).second) emit.text.line("{}({});", emit.tiles.values[step->output.value].packed ? "keep" : "pin", loaded);
  }
}

bool elects(const EmitContext& emit, const Step& step) {
  if (step.kind == StepKind::Issue && step.engine == Engine::Load) return !step.copies;
  return emit.program.blackwell() && (step.kind == StepKind::Signal || (step.kind == StepKind::Issue && step.engine == Engine::Mma));
}

bool touches_tensor(const EmitContext& emit, const Step& step) {
  const auto is = [&](const Place& p) { return p.kind == Place::Kind::Buffer && emit.program.buffers[p.index].tensor(); };
  return step.kind == StepKind::Compute && (is(step.output) || std::any_of(step.inputs.begin(), step.inputs.end(), is));
}

void carry_loads(EmitContext& emit, const Section& section) {
  std::vector<const Step*> left;
  for (const Step& step : section.steps) {
    if (step.kind == StepKind::AwaitReads) left.clear();
    if (step.kind == StepKind::Compute && op_of(emit.kernel, step.op).kind == "tmem_load") left.push_back(&step);
  }
  emit.notes.loading.insert(emit.notes.loading.end(), left.begin(), left.end());
}

}  // namespace heddle::codegen
