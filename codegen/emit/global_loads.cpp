// What threads read from global memory themselves, each the elements that it holds: vectors and tiles that an epilogue adds or
// multiplies by.
#include "codegen/emit/access_text.h"
#include "codegen/emit/writer.h"
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

}  // namespace

std::string Writer::pointer_to(std::size_t tensor) {
  std::size_t pointer = 0;
  while (pointer < launch_.pointers.size() && launch_.pointers[pointer] != tensor) ++pointer;
  if (pointer == launch_.pointers.size()) launch_.pointers.push_back(tensor);
  return fmt::format("in{}", pointer);
}

std::optional<Writer::GlobalTile> Writer::global_tile(const Step& step, const TileOp& op, std::size_t tensor, bool by_row,
                                                      std::int64_t width) {
  const Value& out = values_[step.output.value];
  const auto unfit = [&](const std::string& why) {
    refuse("load", op, fmt::format("'{}' {}", op.name, why));
    return std::nullopt;
  };
  GlobalTile tile;
  std::vector<std::string> variables;
  std::vector<std::int64_t> counts;
  for (std::size_t d = 0; d < kernel_.grid.size(); ++d) {
    variables.push_back(kernel_.grid[d].name);
    counts.push_back(grid_[d] * (program_.cluster > 1 && d == program_.cluster_dim ? program_.cluster : 1));
  }
  variables.push_back(kernel_.loop.variable);
  counts.push_back(program_.trips + 1);
  for (const Expr& extent : kernel_.tensors[tensor].shape) tile.extents.push_back(extent.evaluate(program_.params).value());
  const std::size_t rank = tile.extents.size(), lead = rank - out.shape.size();
  tile.at = coordinates(step, op);
  tile.at = {tile.at.rbegin(), tile.at.rend()};
  bool whole = tile.extents.back() % width == 0;
  for (std::size_t d = 0; d < rank; ++d) {
    const auto affine = op.at[d].affine(program_.params, variables);
    const bool column = d + 1 == rank && !by_row, of_row = d + 1 == rank ? by_row : d >= lead;
    const std::string here = d < lead ? tile.at[d] : of_row ? "row" : "column";
    const auto only = [&](const char* relation, std::int64_t bound) {
      tile.inside += fmt::format("{}{} {} {}", tile.inside.empty() ? "" : " && ", here, relation, bound);
    };
    if (affine) {
      const auto [low, high] = range_of(*affine, counts);
      if (low < 0) return unfit("loads from before the beginning of a tensor");
      if (high + (d < lead ? 1 : out.shape[d - lead]) > tile.extents[d]) only("<", tile.extents[d]);
    } else {
      only(">=", 0), only("<", tile.extents[d]);
    }
    if (column) whole = whole && op.at[d].divisor(program_.params, variables) % width == 0;
    tile.offset = d == 0 ? fmt::format("u64({})", here) : fmt::format("({}) * {} + {}", tile.offset, tile.extents[d], here);
  }
  if (!by_row && !whole)
    return unfit(width == 2
                     ? "loads rows that begin at an odd element or have an odd number of them"
                     : fmt::format("loads {} elements at once, and its rows do not begin at multiples of that or do not have a multiple of "
                                   "them",
                                   width));
  return tile;
}

void Writer::write_global_load(const Step& step, const TileOp& op) {
  const Value& out = values_[step.output.value];
  const TileValue& value = kernel_.values[step.output.value];
  std::size_t index = 0;
  while (index < kernel_.tensors.size() && kernel_.tensors[index].name != op.tensor) ++index;
  const Tensor& tensor = kernel_.tensors[index];
  const auto unfit = [&](const char* why) { refuse("load", op, fmt::format("'{}' {}", op.name, why)); };
  const OpPlan* plan = plan_ ? plan_->find(op.name) : nullptr;
  if (out.layout && ((plan && plan->chosen) || !out.layout->usual)) return write_vector_load(step, op, index);
  const bool half = tensor.dtype == DType::Bf16 || tensor.dtype == DType::F16;
  if (!out.layout || (!half && tensor.dtype != DType::F32) || (out.packed && value.dtype != tensor.dtype))
    return unfit("loads something else than f32, bf16 or f16 into registers, or converts to 16 bits on the way");
  if (tiles_ == Tiles::ThreadRows)
    return unfit("loads into registers where each thread has a row; tma_load to shared memory can be written");
  if (tiles_ == Tiles::WarpRows)
    return loads_whole_vector(step, op) ? write_whole_vector(step, pointer_to(index)) : write_vector_load(step, op, index);

  const bool rows = out.layout->kind == Layout::Kind::Rows;
  const auto tile = global_tile(step, op, index, rows, 2);
  if (!tile) return;
  const std::string &inside = tile->inside, &offset = tile->offset;
  const std::vector<std::string>& at = tile->at;
  const std::size_t rank = at.size();
  const std::string from = pointer_to(index), to = begin_result(step);
  const char* type = tensor.dtype == DType::F16 ? "f16" : "bf16";
  raw("#pragma unroll");
  line("for (int j = 0; j < {}; ++j) {{", rows ? 2 : out.layout->elements / 2);
  ++indent_;
  if (out.layout->kind != Layout::Kind::Columns)
    line("const int row = {} + warp * 16 + lane / 4 + {} * 8;", rows ? at[rank - 1] : at[rank - 2], rows ? "j" : "j % 2");
  if (!rows)
    line("const int column = {} + lane % 4 * 2 + {} * 8;", at[rank - 1], out.layout->kind == Layout::Kind::Columns ? "j" : "j / 2");
  const std::string source = fmt::format("{} + {}", from, offset);
  const std::string otherwise = inside.empty() ? "" : fmt::format("if ({}) ", inside);
  if (rows) {
    if (!inside.empty()) line("{}[j] = 0.0f;", to);
    line("{}{}[j] = {};", otherwise, to, half ? fmt::format("low_{}(*({}))", type, source) : fmt::format("*({})", source));
  } else if (out.packed) {
    line("{}[j] = {};", to, inside.empty() ? fmt::format("load_pair({})", source) : fmt::format("{} ? load_pair({}) : 0u", inside, source));
  } else if (half) {
    line("const u32 pair = {};",
         inside.empty() ? fmt::format("load_pair({})", source) : fmt::format("{} ? load_pair({}) : 0u", inside, source));
    line("{0}[2 * j] = low_{1}(pair), {0}[2 * j + 1] = high_{1}(pair);", to, type);
  } else {
    if (!inside.empty()) line("{0}[2 * j] = {0}[2 * j + 1] = 0.0f;", to);
    line("{0}load_pair({1}, {2}[2 * j], {2}[2 * j + 1]);", otherwise, source, to);
  }
  --indent_;
  raw("}");
  end_result(step);
}

/// The whole of an f32 vector, one number per column, where no op is a product.
bool Writer::loads_whole_vector(const Step& step, const TileOp& op) {
  const Value& out = values_[step.output.value];
  const Tensor& tensor = *kernel_.find_tensor(op.tensor);
  return tensor.dtype == DType::F32 && !out.packed && tensor.shape.size() == 1 &&
         tensor.shape[0].evaluate(program_.params).value() == out.shape[0] && coordinates(step, op) == std::vector<std::string>{"0"} &&
         out.layout->kind == Layout::Kind::Columns;
}

void Writer::write_whole_vector(const Step& step, const std::string& from) {
  const std::string to = begin_result(step);
  raw("#pragma unroll");
  line("for (int e = 0; e < {}; ++e) {}[e] = {}[e / 8 * 256 + lane * 8 + e % 8];", values_[step.output.value].layout->elements, to, from);
  end_result(step);
}

/// However the tile lies in registers, if elements that lie side by side there do so in the tensor: as many at once as the instruction
/// moves, found by the layout.
void Writer::write_vector_load(const Step& step, const TileOp& op, std::size_t index) {
  const Value& out = values_[step.output.value];
  const DType type = kernel_.tensors[index].dtype, made = kernel_.values[step.output.value].dtype;
  const auto unfit = [&](const std::string& why) { refuse("load", op, fmt::format("'{}' {}", op.name, why)); };
  const heddle::Layout* layout = layout_of(step.output.value);
  const OpPlan* plan = plan_->find(op.name);
  if (!layout || !plan || out.shape.size() > kernel_.tensors[index].shape.size())
    return unfit("loads a tile that lies in registers in no known way");
  const int bits = bits_of(type);
  int bytes = bytes_of_load(plan->instruction.name);
  if (bytes == 0)
    return unfit(fmt::format("loads by {}; ld.global.4, ld.global.8 and ld.global.16 can be written", plan->instruction.name));
  if (type == DType::I4) return unfit("loads numbers of 4 bits from global memory; tma_load to shared memory can be written");
  if (type != made && !(made == DType::F32 && (type == DType::Bf16 || type == DType::F16)))
    return unfit(fmt::format("loads {} as {}; the tensor's own type, or f32 of 16 bits, can be written, and `convert` does the rest",
                             to_string(type), to_string(made)));
  const bool by_row = layout->shape.size() == 1 && out.layout->kind == Layout::Kind::Rows;
  const std::int64_t width = bytes * 8 / bits, elements = out.layout->elements;
  const std::size_t last = layout->shape.size() - 1;
  bool beside = elements % width == 0 && (!by_row || width == 1);
  LayoutPlace place;
  for (std::int64_t thread = 0; thread < 128 && beside; ++thread)
    for (std::int64_t e = 0; e < elements && beside; ++e) {
      place[LayoutAxis::Lane] = thread % 32, place[LayoutAxis::Warp] = thread / 32, place[LayoutAxis::Register] = e / width * width;
      auto first = element_at(*layout, place);
      place[LayoutAxis::Register] = e;
      const auto here = element_at(*layout, place);
      if (first) (*first)[last] += e % width;
      beside = first && here && *first == *here && (by_row || ((*first)[last] - e % width) % width == 0);
    }
  if (!beside)
    return unfit(fmt::format("loads {} elements at once by {}, and registers of '{}' do not hold so many side by side", width,
                             plan->instruction.name, kernel_.values[step.output.value].name));
  const auto row = layout->shape.size() == 2 || by_row ? coordinate_text(*layout, 0) : std::optional<std::string>("");
  const auto column = by_row ? std::optional<std::string>("") : coordinate_text(*layout, last);
  if (!row || !column) return unfit("loads a tile whose places in registers follow no pattern of bits");
  const auto tile = global_tile(step, op, index, by_row, width);
  if (!tile) return;
  const std::size_t rank = tile->at.size();
  const std::string from = pointer_to(index), to = begin_result(step);
  const int words = bytes / 4;
  const bool widens = type != made;
  raw("#pragma unroll");
  line("for (int e = 0; e < {}; e += {}) {{", elements, width);
  ++indent_;
  if (!row->empty()) line("const int row = {} + {};", tile->at[by_row ? rank - 1 : rank - 2], *row);
  if (!column->empty()) line("const int column = {} + {};", tile->at[rank - 1], *column);
  std::vector<std::string> registers;
  if (widens) line("u32 words[{}];", words);
  for (int w = 0; w < words; ++w)
    registers.push_back(widens                 ? fmt::format("words[{}]", w)
                        : out.per_register > 1 ? fmt::format("{}[e / {} + {}]", to, out.per_register, w)
                                               : fmt::format("{}[e + {}]", to, w));
  if (!tile->inside.empty()) {
    line("if ({})", tile->inside);
    line("  load_global({} + {}, {});", from, tile->offset, fmt::join(registers, ", "));
    raw("else");
    line("  {} = 0;", fmt::join(registers, " = "));
  } else {
    line("load_global({} + {}, {});", from, tile->offset, fmt::join(registers, ", "));
  }
  if (widens) {
    const char* name = type == DType::F16 ? "f16" : "bf16";
    for (int w = 0; w < words; ++w)
      line("{0}[e + {1}] = low_{3}(words[{2}]), {0}[e + {4}] = high_{3}(words[{2}]);", to, 2 * w, w, name, 2 * w + 1);
  }
  --indent_;
  raw("}");
  end_result(step);
}

/// Rows that an index names or that are looked up: a box of one row for each, by the thread that loads; it lands where the swizzle of its
/// address says.
void Writer::write_gather(const Step& step, const TileOp& op) {
  const auto unfit = [&](const std::string& why) { refuse("gather", op, fmt::format("'{}' {}", op.name, why)); };
  const Place* index = looks_rows_up(op) ? nullptr : &step.inputs.at(0);
  if (index &&
      (index->kind != Place::Kind::Buffer || program_.buffers[index->index].registers || kernel_.values[index->value].dtype != DType::I32))
    return unfit("takes its rows by an index that is no i32 vector in shared memory");
  if (program_.buffers[step.output.index].shared) return unfit("gathers for both blocks of a cluster");
  auto panels = panels_of(step.output.value, op);
  if (!panels) return;
  const std::int64_t rows = panels->rows, row_bytes = panels->bytes / rows;
  if (row_bytes % 128 != 0) return unfit(fmt::format("gathers rows of {} bytes; a box begins at a multiple of 128", row_bytes));
  Panels one = *panels;
  one.rows = 1, one.bytes = row_bytes;
  const std::size_t map = map_of(op, one);
  if (op.at.size() != 2) return;  // map_of() or the shapes have refused it
  const std::string barrier = barrier_text(step.barrier, step.cursor);
  line("arrive_expect({}, {});", barrier, program_.barriers[step.barrier].tx_bytes);
  raw("#pragma unroll 4");
  line("for (int r = 0; r < {}; ++r) {{", rows);
  ++indent_;
  std::vector<std::string> at = coordinates(step, op);
  if (index) {
    raw("u32 row;");
    line("load_word({} + r * 4, row);", value_text(*index));
    at[1] = "int(row)";
  }
  for (int p = 0; p < panels->count; ++p)
    line("tma_load({} + r * {}{}, &map{}, {}, {});", slot_text(step.output), row_bytes,
         p > 0 ? fmt::format(" + {}", p * panels->bytes) : "", map, with_panel(at, p * panels->width), barrier);
  --indent_;
  raw("}");
}

}  // namespace heddle::codegen
