// What threads read from global memory and write to it themselves, each the elements that it holds: vectors and tiles that an epilogue adds
// or multiplies by, and numbers per row or column that it leaves behind.
#include "codegen/emit/global_access.h"

#include "codegen/emit/access_text.h"
#include "codegen/emit/coordinates.h"
#include "codegen/emit/operands.h"
#include "codegen/emit/places.h"
#include "codegen/emit/sizes.h"
#include "codegen/emit/tile_ops.h"
#include "core/kernel/op_kind.h"
#include "core/layout/plan.h"

namespace heddle::codegen {
namespace {

/// Bytes that a lane loads at once, of the catalogue's "ld.global.16"; 0 for other instructions.
int bytes_of_load(const std::string& instruction) {
  for (const int bytes : {4, 8, 16})
    if (instruction == fmt::format("ld.global.{}", bytes)) return bytes;
  return 0;
}

/// What the step reads from global memory, or writes to it.
std::size_t value_of(const Step& step, const TileOp& op) { return op.outputs.empty() ? step.inputs.at(0).value : step.output.value; }

/// The whole of an f32 vector, one number per column, where no op is an mma.
bool loads_whole_vector(EmitContext& emit, const Step& step, const TileOp& op) {
  const TiledValue& out = emit.tiles.values[step.output.value];
  const Tensor& tensor = *emit.kernel.find_tensor(op.tensor);
  return tensor.dtype == DType::F32 && !out.packed && tensor.shape.size() == 1 && !at_run_time(emit, tensor.shape[0]) &&
         tensor.shape[0].evaluate(emit.program.params).value() == out.shape[0] &&
         coordinates(emit, step, op) == std::vector<std::string>{"0"} && out.layout->kind == ThreadTile::Kind::Columns;
}

void write_whole_vector(EmitContext& emit, const Step& step, const std::string& from) {
  const std::string to = begin_result(emit, step);
  emit.text.raw("#pragma unroll");
  const int lanes = emit.tiles.lanes_of_row;
  emit.text.line("for (int e = 0; e < {}; ++e) {}[e] = {}[e / 8 * {} + {} * 8 + e % 8];",
                 emit.tiles.values[step.output.value].layout->elements, to, from, 8 * lanes,
                 lanes < 32 ? fmt::format("lane % {}", lanes) : "lane");
  end_result(emit, step);
}

/// Each `width` elements of a thread are neighbours of a row, and the first of them begins at a multiple of that.
bool side_by_side(const Layout& layout, std::int64_t elements, std::int64_t width) {
  const std::size_t last = layout.shape.size() - 1;
  bool beside = elements % width == 0;
  LayoutPlace place;
  for (std::int64_t thread = 0; thread < 128 && beside; ++thread)
    for (std::int64_t e = 0; e < elements && beside; ++e) {
      place[LayoutAxis::Lane] = thread % 32, place[LayoutAxis::Warp] = thread / 32, place[LayoutAxis::Register] = e / width * width;
      auto first = element_at(layout, place);
      place[LayoutAxis::Register] = e;
      const auto here = element_at(layout, place);
      if (first) (*first)[last] += e % width;
      beside = first && here && *first == *here && (width == 1 || ((*first)[last] - e % width) % width == 0);
    }
  return beside;
}

/// However the tile lies in registers, if elements that lie side by side there do so in the tensor: as many at once as the instruction
/// moves, found by the layout.
void write_vector_load(EmitContext& emit, const Step& step, const TileOp& op) {
  const std::size_t index = tensor_of(emit, op);
  const TiledValue& out = emit.tiles.values[step.output.value];
  const DType type = emit.kernel.tensors[index].dtype, made = emit.kernel.values[step.output.value].dtype;
  const auto unfit = [&](const std::string& why) { emit.refuse("load", op, fmt::format("'{}' {}", op.name, why)); };
  const Layout* layout = emit.tiles.layout_of(step.output.value);
  const OpPlan* plan = emit.tiles.plan->find(op.name);
  if (!layout || !plan || out.shape.size() > emit.kernel.tensors[index].shape.size())
    return unfit("loads a tile that lies in registers in no known way");
  const int bits = bits_of(type);
  int bytes = bytes_of_load(plan->instruction.name);
  if (bytes == 0)
    return unfit(fmt::format("loads by {}; ld.global.4, ld.global.8 and ld.global.16 can be written", plan->instruction.name));
  if (type == DType::I4) return unfit("loads numbers of 4 bits from global memory; tma_load to shared memory can be written");
  if (type != made && !(made == DType::F32 && (type == DType::Bf16 || type == DType::F16)))
    return unfit(fmt::format("loads {} as {}; the tensor's own type, or f32 of 16 bits, can be written, and `convert` does the rest",
                             to_string(type), to_string(made)));
  const bool by_row = layout->shape.size() == 1 && out.layout->kind == ThreadTile::Kind::Rows;
  const std::int64_t width = bytes * 8 / bits, elements = out.layout->elements;
  const std::size_t last = layout->shape.size() - 1;
  const bool beside = (!by_row || width == 1) && side_by_side(*layout, elements, width);
  if (!beside)
    return unfit(fmt::format("loads {} elements at once by {}, and registers of '{}' do not hold so many side by side", width,
                             plan->instruction.name, emit.kernel.values[step.output.value].name));
  const auto row = layout->shape.size() == 2 || by_row ? coordinate_text(*layout, 0) : std::optional<std::string>("");
  const auto column = by_row ? std::optional<std::string>("") : coordinate_text(*layout, last);
  if (!row || !column) return unfit("loads a tile whose places in registers follow no pattern of bits");
  const auto tile = global_tile(emit, step, op, by_row, width);
  if (!tile) return;
  const std::size_t rank = tile->at.size();
  const std::string from = pointer_to(emit, index), to = begin_result(emit, step);
  const int words = bytes / 4;
  const bool widens = type != made;
  emit.text.raw("#pragma unroll");
  emit.text.open("for (int e = 0; e < {}; e += {}) {{", elements, width);
  if (!row->empty()) emit.text.line("const int row = {} + {};", tile->at[by_row ? rank - 1 : rank - 2], *row);
  if (!column->empty()) emit.text.line("const int column = {} + {};", tile->at[rank - 1], *column);
  std::vector<std::string> registers;
  if (widens) emit.text.line("u32 words[{}];", words);
  for (int w = 0; w < words; ++w)
    registers.push_back(widens                 ? fmt::format("words[{}]", w)
                        : out.per_register > 1 ? fmt::format("{}[e / {} + {}]", to, out.per_register, w)
                                               : fmt::format("{}[e + {}]", to, w));
  if (!tile->inside.empty()) {
    emit.text.line("if ({})", tile->inside);
    emit.text.line("  load_global({} + {}, {});", from, tile->offset, fmt::join(registers, ", "));
    emit.text.raw("else");
    emit.text.line("  {} = 0;", fmt::join(registers, " = "));
  } else {
    emit.text.line("load_global({} + {}, {});", from, tile->offset, fmt::join(registers, ", "));
  }
  if (widens) {
    const char* name = type == DType::F16 ? "f16" : "bf16";
    for (int w = 0; w < words; ++w)
      emit.text.line("{0}[e + {1}] = low_{3}(words[{2}]), {0}[e + {4}] = high_{3}(words[{2}]);", to, 2 * w, w, name, 2 * w + 1);
  }
  emit.text.close();
  end_result(emit, step);
}

/// Of threads that hold the same numbers only those store that have 0 in these bits of their number; nothing where a thread holds none.
std::optional<std::int64_t> idle_threads(const Layout& layout, std::int64_t elements) {
  constexpr std::int64_t kLanes = 32, kThreads = 128;
  const auto held = [&](std::int64_t thread, std::int64_t e) {
    LayoutPlace place;
    place[LayoutAxis::Lane] = thread % kLanes, place[LayoutAxis::Warp] = thread / kLanes, place[LayoutAxis::Register] = e;
    return element_at(layout, place);
  };
  std::int64_t idle = kThreads - 1;
  for (std::int64_t thread = 0; thread < kThreads; ++thread)
    for (std::int64_t e = 0; e < elements; ++e) {
      const auto here = held(thread, e);
      if (!here) return std::nullopt;
      for (std::int64_t bit = 1; bit < kThreads; bit *= 2)
        if ((idle & bit) && held(thread ^ bit, e) != here) idle &= ~bit;
    }
  return idle;
}

/// A tile as its threads hold it, as many neighbours of a row at once as a thread has and the tensor's rows are multiples of.
void write_tile_store(EmitContext& emit, const Step& step, const TileOp& op) {
  const std::size_t index = tensor_of(emit, op), v = value_of(step, op);
  const TiledValue& in = emit.tiles.values[v];
  const DType type = emit.kernel.values[v].dtype;
  const int bits = bits_of(type);
  const auto unfit = [&](const std::string& why) { emit.refuse("store", op, fmt::format("'{}' {}", op.name, why)); };
  const Layout* layout = emit.tiles.layout_of(v);
  if (!in.layout || !layout || in.shape.size() != 2 || in.packed != (bits < 32) || emit.kernel.tensors[index].dtype != type || bits < 16)
    return unfit(
        "stores a tile of another type than its tensor, or of 8 or 4 bits, from registers: store numbers of 16 or 32 bits, or "
        "through a descriptor");
  const auto row = coordinate_text(*layout, 0), column = coordinate_text(*layout, 1);
  if (!row || !column || copies(*layout) > 1) return unfit("stores a tile whose places in registers follow no pattern of bits");
  const std::vector<Refusal> before = emit.refusals;
  std::optional<GlobalTile> tile;
  std::int64_t width = 128 / bits;
  for (;; width /= 2) {
    const bool beside = side_by_side(*layout, in.layout->elements, width);
    if (beside) emit.refusals = before, tile = global_tile(emit, step, op, false, width);
    if (tile || width == 1) break;
  }
  if (!tile) return;
  const std::string from = input_array(emit, step, 0);
  const std::size_t rank = tile->at.size();
  std::vector<std::string> words;
  for (std::int64_t w = 0; w * 32 < width * bits; ++w)
    words.push_back(fmt::format("{}[e{}{}]", from, in.per_register > 1 ? fmt::format(" / {}", in.per_register) : "",
                                w > 0 ? fmt::format(" + {}", w) : ""));
  if (width * bits == 16) words[0] += " >> e % 2 * 16";
  emit.text.raw("#pragma unroll");
  emit.text.open("for (int e = 0; e < {}; e += {}) {{", in.layout->elements, width);
  emit.text.line("const int row = {} + {};", tile->at[rank - 2], *row);
  emit.text.line("const int column = {} + {};", tile->at[rank - 1], *column);
  emit.text.line("{}{}({} + {}, {});", tile->inside.empty() ? "" : fmt::format("if ({}) ", tile->inside),
                 width * bits == 16 ? "write_half" : "write_words", pointer_to(emit, index), tile->offset, fmt::join(words, ", "));
  emit.text.close();
}

}  // namespace

std::size_t tensor_of(const EmitContext& emit, const TileOp& op) {
  std::size_t tensor = 0;
  while (tensor < emit.kernel.tensors.size() && emit.kernel.tensors[tensor].name != op.tensor) ++tensor;
  return tensor;
}

std::optional<GlobalTile> global_tile(EmitContext& emit, const Step& step, const TileOp& op, bool by_row, std::int64_t width) {
  const TiledValue& out = emit.tiles.values[value_of(step, op)];
  const auto unfit = [&](const std::string& why) {
    emit.refuse("load", op, fmt::format("'{}' {}", op.name, why));
    return std::nullopt;
  };
  GlobalTile tile;
  std::vector<std::string> variables;
  std::vector<std::int64_t> counts;
  for (std::size_t d = 0; d < emit.kernel.grid.size(); ++d) {
    variables.push_back(emit.kernel.grid[d].name);
    counts.push_back(emit.grid.sizes[d] * (emit.program.cluster > 1 && d == emit.program.cluster_dim ? emit.program.cluster : 1));
  }
  variables.push_back(emit.kernel.loop.variable);
  counts.push_back(emit.program.trips + 1);
  const Tensor& tensor = emit.kernel.tensors[tensor_of(emit, op)];
  std::vector<std::int64_t> extents;
  for (const Expr& extent : tensor.shape) extents.push_back(extent.evaluate(emit.program.params).value());
  const std::size_t rank = extents.size(), lead = rank - out.shape.size();
  tile.at = coordinates(emit, step, op);
  tile.at = {tile.at.rbegin(), tile.at.rend()};
  for (std::string& at : tile.at)  // sums and products of them are written, and comparisons
    if (at.find_first_of("&?<>=!") != std::string::npos) at = "(" + at + ")";
  bool whole = extents.back() % width == 0;
  if (!by_row && width > 1 && at_run_time(emit, tensor.shape.back()))
    require_size(emit, fmt::format("{} % {} == 0", host_text(emit, tensor.shape.back()), width),
                 fmt::format("rows of {} have a multiple of {} numbers", safe_name(tensor.name), width));
  std::vector<std::string> any = variables, texts(variables.size());
  add_size_variables(emit, any, texts);
  for (std::size_t d = 0; d < rank; ++d) {
    // Where the tensor ends, or how far indices go, is not known before the kernel is started.
    const bool open = !emit.program.sizes.empty() && (at_run_time(emit, tensor.shape[d]) || !op.at[d].is_constant());
    const auto affine = open ? std::nullopt : op.at[d].affine(emit.program.params, variables);
    require_extent(emit, tensor.shape[d], fmt::format("extents of {} are 32-bit numbers", safe_name(tensor.name)));
    const std::string extent = size_text(emit, tensor.shape[d], fmt::format("{}_extent{}", safe_name(tensor.name), d));
    const bool column = d + 1 == rank && !by_row, of_row = d + 1 == rank ? by_row : d >= lead;
    const std::string here = d < lead ? tile.at[d] : of_row ? "row" : "column";
    const auto only = [&](const char* relation, const std::string& bound) {
      tile.inside += fmt::format("{}{} {} {}", tile.inside.empty() ? "" : " && ", here, relation, bound);
    };
    if (affine) {
      const auto [low, high] = range_of(*affine, counts);
      if (low < 0)
        return unfit(op.outputs.empty() ? "stores before the beginning of a tensor" : "loads from before the beginning of a tensor");
      if (high + (d < lead ? 1 : out.shape[d - lead]) > extents[d]) only("<", extent);
    } else {
      only(">=", "0"), only("<", extent);
    }
    if (const auto before = end_of_rows(op); before && d == lead) {
      const std::string end = row_text(emit, step, op, *before);
      only("<", end.find(' ') == std::string::npos ? end : "(" + end + ")");
    }
    if (column) whole = whole && op.at[d].divisor(emit.program.params, any) % width == 0;
    tile.offset = d == 0 ? fmt::format("u64({})", here) : fmt::format("({}) * {} + {}", tile.offset, extent, here);
  }
  if (!by_row && !whole)
    return unfit(width == 2
                     ? "loads rows that begin at an odd element or have an odd number of them"
                     : fmt::format("loads {} elements at once, and its rows do not begin at multiples of that or do not have a multiple of "
                                   "them",
                                   width));
  return tile;
}

void write_global_store(EmitContext& emit, const Step& step, const TileOp& op) {
  const std::size_t index = tensor_of(emit, op), v = value_of(step, op);
  const TiledValue& in = emit.tiles.values[v];
  const auto unfit = [&](const char* why) { emit.refuse("store", op, fmt::format("'{}' {}", op.name, why)); };
  const Layout* layout = emit.tiles.layout_of(v);
  if (in.shape.size() == 2) return write_tile_store(emit, step, op);
  if (!in.layout || !layout || in.shape.size() != 1 || in.packed || emit.kernel.tensors[index].dtype != DType::F32)
    return unfit("stores numbers per row or column that are no f32: store them as float32");
  const auto idle = idle_threads(*layout, in.layout->elements);
  const auto place = coordinate_text(*layout, 0);
  if (!idle || !place) return unfit("stores numbers whose places in registers follow no pattern of bits");
  const auto tile = global_tile(emit, step, op, true, 1);
  if (!tile) return;
  std::string when = tile->inside;
  if (*idle > 0) when = fmt::format("(tid & {}) == 0{}{}", *idle, when.empty() ? "" : " && ", when);
  emit.text.raw("#pragma unroll");
  emit.text.open("for (int e = 0; e < {}; ++e) {{", in.layout->elements);
  emit.text.line("const int row = {} + {};", tile->at.back(), *place);
  emit.text.line("{}{}[{}] = {}[e];", when.empty() ? "" : fmt::format("if ({}) ", when), pointer_to(emit, index), tile->offset,
                 input_array(emit, step, 0));
  emit.text.close();
}

void write_global_load(EmitContext& emit, const Step& step, const TileOp& op) {
  const TiledValue& out = emit.tiles.values[step.output.value];
  const TileValue& value = emit.kernel.values[step.output.value];
  const std::size_t index = tensor_of(emit, op);
  const Tensor& tensor = emit.kernel.tensors[index];
  const auto unfit = [&](const char* why) { emit.refuse("load", op, fmt::format("'{}' {}", op.name, why)); };
  const OpPlan* plan = emit.tiles.plan ? emit.tiles.plan->find(op.name) : nullptr;
  if (out.layout && ((plan && plan->chosen) || !out.layout->usual)) return write_vector_load(emit, step, op);
  const bool half = tensor.dtype == DType::Bf16 || tensor.dtype == DType::F16;
  if (!out.layout || (!half && tensor.dtype != DType::F32) || (out.packed && value.dtype != tensor.dtype))
    return unfit("loads something else than f32, bf16 or f16 into registers, or converts to 16 bits on the way");
  if (emit.tiles.kind == TileKind::ThreadRows)
    return unfit("loads into registers where each thread has a row; tma_load to shared memory can be written");
  if (emit.tiles.kind == TileKind::WarpRows)
    return loads_whole_vector(emit, step, op) ? write_whole_vector(emit, step, pointer_to(emit, index)) : write_vector_load(emit, step, op);

  const bool rows = out.layout->kind == ThreadTile::Kind::Rows;
  const auto tile = global_tile(emit, step, op, rows, 2);
  if (!tile) return;
  const std::string &inside = tile->inside, &offset = tile->offset;
  const std::vector<std::string>& at = tile->at;
  const std::size_t rank = at.size();
  const std::string from = pointer_to(emit, index), to = begin_result(emit, step);
  const char* type = tensor.dtype == DType::F16 ? "f16" : "bf16";
  emit.text.raw("#pragma unroll");
  emit.text.open("for (int j = 0; j < {}; ++j) {{", rows ? 2 : out.layout->elements / 2);
  if (out.layout->kind != ThreadTile::Kind::Columns)
    emit.text.line("const int row = {} + warp * 16 + lane / 4 + {} * 8;", rows ? at[rank - 1] : at[rank - 2], rows ? "j" : "j % 2");
  if (!rows)
    emit.text.line("const int column = {} + lane % 4 * 2 + {} * 8;", at[rank - 1],
                   out.layout->kind == ThreadTile::Kind::Columns ? "j" : "j / 2");
  const std::string source = fmt::format("{} + {}", from, offset);
  const std::string otherwise = inside.empty() ? "" : fmt::format("if ({}) ", inside);
  if (rows) {
    if (!inside.empty()) emit.text.line("{}[j] = 0.0f;", to);
    emit.text.line("{}{}[j] = {};", otherwise, to, half ? fmt::format("low_{}(*({}))", type, source) : fmt::format("*({})", source));
  } else if (out.packed) {
    emit.text.line("{}[j] = {};", to,
                   inside.empty() ? fmt::format("load_pair({})", source) : fmt::format("{} ? load_pair({}) : 0u", inside, source));
  } else if (half) {
    emit.text.line("const u32 pair = {};",
                   inside.empty() ? fmt::format("load_pair({})", source) : fmt::format("{} ? load_pair({}) : 0u", inside, source));
    emit.text.line("{0}[2 * j] = low_{1}(pair), {0}[2 * j + 1] = high_{1}(pair);", to, type);
  } else {
    if (!inside.empty()) emit.text.line("{0}[2 * j] = {0}[2 * j + 1] = 0.0f;", to);
    emit.text.line("{0}load_pair({1}, {2}[2 * j], {2}[2 * j + 1]);", otherwise, source, to);
  }
  emit.text.close();
  end_result(emit, step);
}

}  // namespace heddle::codegen
