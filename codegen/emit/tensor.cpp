// Blackwell's products (tcgen05), which one thread issues and which add up in tensor memory, and the way between tensor memory and
// registers.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "codegen/emit/tensor_move.h"
#include "codegen/emit/writer.h"

namespace heddle::codegen {
namespace {

constexpr int kWidest = 32;  ///< columns of one load or store, which takes so many neighbouring registers: for 64, ptxas spills

bool is_8_bit(DType type) { return type == DType::F8e4m3 || type == DType::F8e5m2; }

/// The instruction descriptor of tcgen05.mma with kind::f16 and kind::f8f6f4 (PTX ISA 9.0, table of its bits).
std::uint32_t product_bits(DType a, DType b, bool a_mn_major, bool b_mn_major, std::int64_t m, std::int64_t n) {
  const auto code = [](DType type) { return static_cast<std::uint32_t>(type == DType::Bf16 || type == DType::F8e5m2); };
  constexpr std::uint32_t kF32 = 1;  // of the result
  return kF32 << 4 | code(a) << 7 | code(b) << 10 | static_cast<std::uint32_t>(a_mn_major) << 15 |
         static_cast<std::uint32_t>(b_mn_major) << 16 | static_cast<std::uint32_t>(n / 8) << 17 | static_cast<std::uint32_t>(m / 16) << 24;
}

}  // namespace

// ---- who issues

bool Writer::elects(const Step& step) const {
  return program_.blackwell() && (step.kind == StepKind::Signal || (step.kind == StepKind::Issue && step.engine == Engine::Mma));
}

bool Writer::is_leaders(std::size_t barrier) const {
  if (!program_.pair) return false;
  for (const Role& role : program_.roles)
    if (issues_products(role))
      for (const Section& section : role.sections)
        for (const Step& step : section.steps)
          if (step.kind == StepKind::Wait && step.barrier == barrier) return true;
  return false;
}

// ---- products

void Writer::write_tensor_product(const Step& step) {
  const TileOp& op = op_of(kernel_, step.op);
  const Place &a = step.inputs.at(0), &b = step.inputs.at(1), &d = step.output;
  const std::vector<std::int64_t>&as = values_[a.value].shape, &bs = values_[b.value].shape, &ds = values_[d.value].shape;
  const bool ta = flag_attr(op, "transpose_a"), tb = flag_attr(op, "transpose_b");
  const auto unfit = [&](const std::string& why) { refuse("product", op, fmt::format("'{}' {}", op.name, why)); };
  const auto lies = [&](const Place& p, bool tensor) {
    return p.kind == Place::Kind::Buffer && !program_.buffers[p.index].registers && program_.buffers[p.index].tensor() == tensor;
  };
  if (!lies(d, true)) return unfit("needs its accumulator in tensor memory");
  const bool from_tensor = lies(a, true);
  if (!lies(b, false) || (!from_tensor && !lies(a, false)))
    return unfit("needs its first operand in shared or tensor memory, its second in shared memory");
  if (as.size() != 2 || bs.size() != 2 || ds.size() != 2 || as[ta] != 128) return unfit("is no product of 128 rows");
  const DType type = kernel_.values[a.value].dtype, b_type = kernel_.values[b.value].dtype;
  const bool bytes = is_8_bit(type);
  if (!lies_in_spans(b.value, {128}, op) || (!from_tensor && !lies_in_spans(a.value, {128}, op))) return;
  if (kernel_.values[d.value].dtype != DType::F32 || (bytes ? !is_8_bit(b_type) : b_type != type) ||
      (!bytes && type != DType::Bf16 && type != DType::F16))
    return unfit("multiplies neither bf16 nor f16 nor 8-bit floats into f32");
  if (bytes && (ta || !tb || from_tensor)) return unfit("multiplies 8-bit floats that do not lie along K in shared memory");
  if (from_tensor && (ta || program_.pair)) return unfit("takes its first operand from tensor memory transposed, or for a pair of blocks");
  const std::int64_t k = as[!ta], n = ds[1], column = integer_attr(op, "column", 0), row = integer_attr(op, "row", 0);
  const std::int64_t panel = bytes ? 128 : 64, deep = bytes ? 32 : 16;  // columns of 128 bytes; K of one product
  if (n % (program_.pair ? 32 : 16) != 0 || n > 256 || k % deep != 0 || (!from_tensor && !ta && k % panel != 0) ||
      (tb ? k : n) % panel != 0 || column % (tb ? 8 : panel) != 0 || column < 0 || column + n > bs[tb ? 0 : 1] ||
      row % (tb ? panel : 16) != 0 || row < 0 || row + k > bs[tb ? 1 : 0] || (program_.pair && (column != 0 || n != bs[tb ? 0 : 1])))
    return unfit(fmt::format("has extents that do not make whole swizzled panels of {} columns", panel));
  std::string add = "1";  // of the first step along K
  if (step.inputs.size() < 3) {
    add = "k";
  } else if (step.inputs[2].iteration < 0 && step.inputs[2].iteration != kPerTile && is_zero_fill(step.inputs[2].value)) {
    const std::int64_t first = section_->first - 1 - step.inputs[2].iteration;  // whose sum begins with the prologue's zero
    if (section_->loop)
      add = fmt::format("k | (i != {})", first);
    else if (step.inputs[2].iteration == -1)
      add = "k";
  }
  const std::int64_t rows = program_.pair && tb ? bs[0] / 2 : bs[0];  // of B as it is stored here
  raw("{");
  ++indent_;
  if (from_tensor)
    line("const u32 a = {};", tensor_text("tensor", a, 0));
  else
    line("const u64 a = tensor_matrix({}, {});", matrix_text(a), ta ? as[0] * 128 : 16);
  const std::int64_t skipped = tb ? (row / panel * rows + column) * 128 : (column / 64 * rows + row) * 128;
  line("const u64 b = tensor_matrix({}{}, {});", matrix_text(b), skipped > 0 ? fmt::format(" + {}", skipped) : "", tb ? 16 : rows * 128);
  // A thread that does nothing else has the time of a product for each turn of the loop; written out, ptxas would hold the descriptors of
  // all of them in registers.
  raw(one_thread_ ? "#pragma unroll 1" : "#pragma unroll");
  line("for (int k = 0; k < {}; ++k)", k / deep);
  // K-major: a panel's columns of K, 32 bytes further per step. M- or N-major: 16 rows of 128 bytes further, panels of M or N apart.
  // In tensor memory two numbers share a column.
  const std::string a_tile = from_tensor ? "a + k * 8"
                             : ta        ? "behind(a, k * 2048)"
                                         : fmt::format("behind(a, k / 4 * {} + k % 4 * 32)", as[0] * 128);
  const std::string b_tile = tb ? fmt::format("behind(b, k / 4 * {} + k % 4 * 32)", rows * 128) : "behind(b, k * 2048)";
  line("  tensor_product{}{}{}({}, {}, {}, {:#x}u, {});", from_tensor ? "_ts" : "", bytes ? "_f8" : "", program_.pair ? "_pair" : "",
       tensor_text("tensor", d, 0), a_tile, b_tile, product_bits(type, b_type, ta, !tb, program_.pair ? 256 : 128, n), add);
  --indent_;
  raw("}");
}

void Writer::write_signal(const Step& step) {
  line("{}tensor_signal{}({});  // {} {}", step.only_last ? fmt::format("if (i >= {}) ", end_text(*section_, 1)) : "",
       program_.pair ? "_pair" : "", barrier_text(step.barrier, step.cursor), program_.barriers[step.barrier].full ? "full" : "empty",
       barrier_name(step.barrier));
}

/// Each block of a pair loads its own rows of a first operand, and of a second one half of the columns of the product.
void Writer::write_pair_load(const Step& step, const TileOp& op, Panels panels) {
  auto at = box_coordinates(step, op);
  if (program_.buffers[step.output.index].shared) {
    bool along_rows = false;
    for (const TileOp& product : kernel_.body)
      if (product.kind == "mma" && product.inputs[1].value == kernel_.values[step.output.value].name)
        along_rows = flag_attr(product, "transpose_b");
    if (along_rows ? panels.rows % 16 != 0 : panels.count % 2 != 0)
      return refuse("cluster", op, fmt::format("'{}' loads a tile that cannot be halved for a pair of blocks", op.name));
    if (along_rows) {
      panels.rows /= 2;
      panels.bytes /= 2;
      at[1] = fmt::format("{} + rank * {}", at[1], panels.rows);
    } else {
      panels.count /= 2;
      at[0] = fmt::format("{} + rank * {}", at[0], panels.count * panels.width);
    }
  }
  const std::size_t map = map_of(op, panels);
  const std::string barrier = barrier_text(step.barrier, step.cursor);
  line("arrive_expect_leader({}, {});", barrier, program_.barriers[step.barrier].tx_bytes);
  for (int p = 0; p < panels.count; ++p)
    line("tma_load_pair({}{}, &map{}, {}, {});", slot_text(step.output), p > 0 ? fmt::format(" + {}", p * panels.bytes) : "", map,
         with_panel(at, p * panels.width), barrier);
}

// ---- between tensor memory and registers

std::string Writer::tensor_text(const char* base, const Place& place, int column) const {
  const Buffer& buffer = program_.buffers[place.index];
  const std::int64_t at = buffer.offset + columns_of(kernel_, program_.params, place.value).first + column;
  std::string text = base;
  if (at > 0) text += fmt::format(" + {}", at);
  if (buffer.depth > 1) text += fmt::format(" + s{} * {}", place.cursor, buffer.columns);
  return text;
}

template <class Write>
void Writer::in_chunks(int registers, Write write) {
  for (int at = 0, width = kWidest; at < registers; at += width) {
    while (width > registers - at) width /= 2;
    write(width, at);
  }
}

void Writer::write_tensor_load(const Step& step, const TileOp& op) {
  const Place& from = step.inputs.at(0);
  if (from.kind != Place::Kind::Buffer || !program_.buffers[from.index].tensor() || step.output.kind != Place::Kind::Variable)
    return refuse("tmem_load", op, fmt::format("'{}' does not read tensor memory into registers", op.name));
  const bool packed = values_[step.output.value].packed;
  if (kernel_.values[from.value].dtype != kernel_.values[step.output.value].dtype)
    return refuse("tmem_load", op, fmt::format("'{}' converts on the way", op.name));
  const int words = words_of(step, step.output.value);
  const int first = static_cast<int>(integer_attr(op, "column", 0)) / (packed ? 2 : 1) + step.piece.number * words;
  const bool moves = role_->variables[step.output.index].moves;
  if (moves) raw("{"), ++indent_;
  const std::string to = begin_result(step);
  in_chunks(words, [&](int width, int at) {
    tensor_loads_.insert(width);
    line("tensor_load_n{}<{}>({}, {});", width, at, tensor_text("own", from, first + at), to);
  });
  if (!moves) return loading_.push_back(&step);
  raw("tensor_await_loads();");
  line("{}({});", packed ? "keep" : "pin", to);
  end_result(step);
  --indent_;
  raw("}");
}

void Writer::write_tensor_store(const Step& step, const TileOp& op) {
  const Place& from = step.inputs.at(0);
  const bool handed_over = from.kind == Place::Kind::Buffer && program_.buffers[from.index].registers;
  if ((from.kind != Place::Kind::Variable && !handed_over) || step.output.kind != Place::Kind::Buffer ||
      !program_.buffers[step.output.index].tensor() || kernel_.values[from.value].dtype != kernel_.values[step.output.value].dtype)
    return refuse("tmem_store", op, fmt::format("'{}' does not write a register tile to tensor memory as it is", op.name));
  const int words = words_of(step, from.value), first = step.piece.number * words;
  if (handed_over) raw("{"), ++indent_;
  take_inputs(step, op);
  in_chunks(words, [&](int width, int at) {
    tensor_stores_.insert(width);
    line("tensor_store_n{}<{}>({}, {});", width, at, tensor_text("own", step.output, first + at), input_array(step, 0));
  });
  if (!handed_over) return;
  --indent_;
  raw("}");
}

void Writer::write_tensor_fill(const Step& step, const TileOp& op) {
  const float number = number_attr(op, "value").value_or(0.0f);
  if (kernel_.values[step.output.value].dtype != DType::F32 || !std::isfinite(number))
    return refuse("fill", op, fmt::format("'{}' does not fill tensor memory with a finite f32", op.name));
  constexpr int kAtOnce = 32;  // registers that hold the number
  const int columns = columns_of(kernel_, program_.params, step.output.value).count;
  line("float same[{}];", kAtOnce);
  raw("#pragma unroll");
  line("for (int e = 0; e < {}; ++e) same[e] = {};", kAtOnce, float_literal(number));
  for (int at = 0, width = kAtOnce; at < columns; at += width) {
    while (width > columns - at) width /= 2;
    tensor_stores_.insert(width);
    line("tensor_store_n{}<0>({}, same);", width, tensor_text("own", step.output, at));
  }
}

bool Writer::touches_tensor(const Step& step) const {
  const auto is = [&](const Place& p) { return p.kind == Place::Kind::Buffer && program_.buffers[p.index].tensor(); };
  return step.kind == StepKind::Compute && (is(step.output) || std::any_of(step.inputs.begin(), step.inputs.end(), is));
}

void Writer::write_await_loads() {
  raw("tensor_await_loads();");
  std::set<std::string> done;
  for (const Step* step : std::exchange(loading_, {})) {
    const std::string loaded = register_text(step->output);
    if (done.insert(loaded).second) line("{}({});", values_[step->output.value].packed ? "keep" : "pin", loaded);
  }
}

void Writer::carry_loads(const Section& section) {
  std::vector<const Step*> left;
  for (const Step& step : section.steps) {
    if (step.kind == StepKind::AwaitReads) left.clear();
    if (step.kind == StepKind::Compute && op_of(kernel_, step.op).kind == "tmem_load") left.push_back(&step);
  }
  loading_.insert(loading_.end(), left.begin(), left.end());
}

// ---- factors of one

std::size_t Writer::rescale_at(const Section& section, std::size_t first) const {
  if (tiles_ != Tiles::ThreadRows || recording_ops() || !loading_.empty()) return 0;
  const Place* factor = nullptr;
  const auto same = [](const Place& a, const Place& b) {
    return a.kind == b.kind && a.index == b.index && a.copy == b.copy && a.cursor == b.cursor;
  };
  // Where the tile lies that is multiplied, if it was read from where it is written.
  const auto is_from = [&](std::size_t multiplied, const Place& to) {
    const Buffer& buffer = program_.buffers[to.index];
    for (const TileOp& op : kernel_.body)
      for (const std::size_t source : buffer.values)
        if (op.kind == "tmem_load" && op.outputs[0] == kernel_.values[multiplied].name && op.inputs[0].value == kernel_.values[source].name)
          return buffer.per_tile &&
                 columns_of(kernel_, program_.params, source).first == columns_of(kernel_, program_.params, to.value).first;
    return false;
  };
  std::size_t end = first;
  std::set<std::string> loaded;             // what is not multiplied yet
  std::map<std::string, std::size_t> made;  // what is not brought back, and of which value it is a multiple
  for (std::size_t k = first; k < section.steps.size(); ++k) {
    const Step& step = section.steps[k];
    if (step.skip_first > 0 || step.skip_last > 0 || step.only_last) break;
    if (k > first && (step.kind == StepKind::AwaitReads || step.kind == StepKind::FenceAfter)) continue;
    if (step.kind != StepKind::Compute) break;
    const TileOp& op = op_of(kernel_, step.op);
    if (op.kind == "tmem_load" && loaded.insert(register_text(step.output)).second) continue;
    if (op.kind == "tmem_store" && step.inputs.at(0).kind == Place::Kind::Variable) {
      const auto from = made.find(register_text(step.inputs[0]));
      if (from == made.end() || !is_from(from->second, step.output)) break;
      made.erase(from);
      if (loaded.empty() && made.empty()) end = k + 1;
      continue;
    }
    const bool multiplies = op.kind == "elementwise" && text_attr(op, "fn") == "mul" && flag_attr(op, "skip_ones") &&
                            step.inputs.size() == 2 && values_[step.inputs[1].value].layout &&
                            values_[step.inputs[1].value].layout->kind == Layout::Kind::Rows;
    if (!multiplies || step.inputs[0].kind != Place::Kind::Variable || (factor && !same(*factor, step.inputs[1]))) break;
    loaded.erase(register_text(step.inputs[0]));
    made[register_text(step.output)] = step.inputs[0].value;
    factor = &step.inputs[1];
  }
  return end - first;
}

bool Writer::can_rescale(const TileOp& op) const {
  const auto name = [&](std::size_t value) -> const std::string& { return kernel_.values[value].name; };
  const auto column = [&](std::size_t value) { return columns_of(kernel_, program_.params, value).first; };
  const auto from = [&](std::size_t value) {
    return std::any_of(kernel_.body.begin(), kernel_.body.end(), [&](const TileOp& o) {
      return o.kind == "tmem_load" && o.inputs[0].value == name(value) && o.outputs[0] == op.inputs[0].value;
    });
  };
  const auto to = [&](std::size_t value) {
    return std::any_of(kernel_.body.begin(), kernel_.body.end(), [&](const TileOp& o) {
      return o.kind == "tmem_store" && o.inputs[0].value == op.outputs[0] && o.outputs[0] == name(value);
    });
  };
  const TileValue* factor = op.inputs.size() == 2 ? kernel_.find_value(op.inputs[1].value) : nullptr;
  if (!factor || factor->shape.size() != 1) return false;
  for (const Buffer& buffer : program_.buffers)
    for (const std::size_t source : buffer.values)
      for (const std::size_t back : buffer.values)
        if (buffer.per_tile && from(source) && to(back) && column(source) == column(back)) return true;
  return false;
}

void Writer::judge_unskipped() {
  if (records_ && records_->recording == Recording::Ops) return;  // which looks at every op, in every iteration
  for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
    for (const TileOp& op : *list) {
      if (!flag_attr(op, "skip_ones") || skipped_.contains(op.name)) continue;
      if (list == &kernel_.body && can_rescale(op))
        unskipped_.push_back(op.name);
      else
        refuse("attribute", op,
               fmt::format("'{}' says skip_ones, and only a tile that is read from tensor memory, multiplied by a number per row and "
                           "written back where it was is left alone",
                           op.name));
    }
}

void Writer::open_rescale(const Section& section, std::size_t first) {
  std::size_t k = first;
  while (op_of(kernel_, section.steps[k].op).kind != "elementwise" || section.steps[k].kind != StepKind::Compute) ++k;
  const Place& factor = section.steps[k].inputs[1];
  raw("{");
  ++indent_;
  if (factor.kind == Place::Kind::Variable) {
    line("const float factor = {}[0];", register_text(factor));
  } else {
    raw("float factor;");
    line("load_word({} + tid * 4, factor);", slot_text(factor));
  }
  raw("if (__any_sync(0xffffffffu, factor != 1.0f)) {  // else the warp's rows stay as they are");
  ++indent_;
}

}  // namespace heddle::codegen
