#include "codegen/emit/tma.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "codegen/emit/coordinates.h"
#include "codegen/emit/places.h"
#include "codegen/emit/sizes.h"
#include "codegen/emit/steps.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/packed.h"
#include "core/layout/known.h"
#include "core/layout/plan.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kMostBoxRows = 256, kMostBoxColumns = 256;

/// "panels 64" of those that the tile could lie in.
std::string known_panels(std::int64_t rows, std::int64_t columns, int bits) {
  for (const int span : {128, 64, 32})
    if (panels_layout(rows, columns, bits, span)) return fmt::format("panels {}", span);
  return "panels 0";
}

/// Panels of a tile that TMA moves one by one.
struct Panels {
  int count = 1, width = 0;
  std::int64_t rows = 1, bytes = 0;
  int swizzle = 0;          ///< bytes of a row: 128, 64, 32; 0: none
  bool relabelled = false;  ///< the order of rows is that of relabelled()
};

/// Boxes of TMA that lie in memory as the tile does.
std::optional<Panels> panels_of(EmitContext& emit, std::size_t v, const TileOp& op) {
  const auto& shape = emit.tiles.values[v].shape;
  const std::int64_t bits = bits_of(emit.kernel.values[v].dtype);
  const auto packed = emit.tiles.plan->packed.find(op.tensor);
  if (packed == emit.tiles.plan->packed.end() && bits >= 16 && shape.size() == 1 && shape[0] <= kMostBoxColumns) {
    // A box has at least 16 bytes: a shorter vector brings its neighbours along, which are not read.
    const std::int64_t width = op.kind == "tma_load" ? std::max(shape[0], kLeastBoxBytes * 8 / bits) : shape[0];
    if (width * bits % 128 == 0) return Panels{1, static_cast<int>(width), 1, width * bits / 8, 0};
  }
  const auto refused = [&](const std::string& why) {
    emit.refuse("tile_shape", op, why);
    return std::nullopt;
  };
  const Layout* layout = emit.tiles.layout_of(v);
  const auto swizzle = emit.tiles.swizzle_of(v);
  if (packed != emit.tiles.plan->packed.end()) {
    const std::int64_t bytes = layout ? layout->elements() * bits / 8 : 0;
    if (!layout || emit.tiles.plan->values[v].text != (packed->second == PackedOrder::Lines ? "packed lines" : "packed") ||
        bytes / kPackedRow > kMostBoxRows)
      return refused(fmt::format("'{}' moves a tile of a prepacked tensor that lies otherwise, or is too large for a box", op.name));
    return Panels{1, static_cast<int>(kPackedRow * 8 / std::max<std::int64_t>(bits, 8)), bytes / kPackedRow, bytes, 0};
  }
  if (layout && layout->shape.size() == 2 && !swizzle)
    return refused(fmt::format("'{}' lies as {}, which no box reads: layout {}={}", emit.kernel.values[v].name,
                               emit.tiles.plan->values[v].text, emit.kernel.values[v].name,
                               known_panels(shape[0], shape[1], static_cast<int>(bits))));
  const std::int64_t span = swizzle.value_or(emit.tiles.kind == TileKind::WarpRows ? 0 : 128),
                     most = span > 0 ? span * 8 / bits : kMostBoxColumns;
  const std::int64_t width = span > 0 || shape.size() != 2 ? most : std::min(most, shape[1]);
  if (!layout || shape.size() != 2 || shape[1] % width != 0 || shape[0] > kMostBoxRows) {
    const std::string other = shape.size() == 2 ? known_panels(shape[0], shape[1], static_cast<int>(bits)) : "panels 0";
    return refused(fmt::format("'{}' moves a tile that is not two-dimensional, at most {} rows and a multiple of {} columns{}", op.name,
                               kMostBoxRows, most,
                               shape.size() == 2 && shape[0] <= kMostBoxRows && span > 0 && other != "panels 0"
                                   ? fmt::format(": layout {}={}", emit.kernel.values[v].name, other)
                                   : std::string()));
  }
  const std::int64_t elements = std::max<std::int64_t>(8 / bits, 1);  // of a number that a box counts: two of 4 bits are a byte
  return Panels{
      static_cast<int>(shape[1] / width), static_cast<int>(width / elements), shape[0], shape[0] * width * bits / 8, static_cast<int>(span),
      emit.tiles.has_relabelled_rows(v)};
}

/// Extents of a tensor whose sizes are given at run time, as the host computes them, and what must hold of them.
std::vector<std::string> extent_texts(EmitContext& emit, const TileOp& op, std::size_t t, const Panels& panels) {
  const Tensor& tensor = emit.kernel.tensors[t];
  std::vector<std::string> texts;
  if (emit.program.sizes.empty()) return texts;
  if (panels.relabelled || emit.tiles.plan->packed.contains(op.tensor)) {
    emit.refuse("run_time_sizes", op,
                fmt::format("'{}' moves rows in another order or packed blocks, which are found by sizes that must be known", op.name));
    return texts;
  }
  const std::string name = safe_name(tensor.name);
  for (std::size_t d = tensor.shape.size(); d-- > 0;) {
    const bool by_two = tensor.dtype == DType::I4 && d + 1 == tensor.shape.size();  // a literal (run_time_sizes.h), counted in bytes
    texts.push_back(by_two ? fmt::format("{}", tensor.shape[d].evaluate(emit.program.params).value() / 2)
                           : host_text(emit, tensor.shape[d]));
    require_extent(emit, tensor.shape[d], fmt::format("extents of {} are 32-bit numbers", name));
  }
  // Strides are multiples of 16 bytes, of 40 bits (cuTensorMapEncodeTiled).
  const std::int64_t bytes = std::max(bits_of(tensor.dtype) / 8, 1);
  require_size(emit, fmt::format("{} * {} % 16 == 0", texts[0], bytes),
               fmt::format("contiguous rows of {} are multiples of 16 bytes, as TMA needs them", name), t);
  if (texts.size() > 2) {
    require_size(emit, fmt::format("{} >= 1", texts[0]), fmt::format("a row of {} has an element", name));
    require_size(emit, fmt::format("{} <= {} / ({} * {})", texts[1], (std::int64_t{1} << 40) - 1, texts[0], bytes),
                 fmt::format("a matrix of {} has less than 2^40 bytes", name));
  }
  return texts;
}

std::size_t map_of(EmitContext& emit, const TileOp& op, const Panels& panels) {
  TensorMapPlan plan;
  for (std::size_t t = 0; t < emit.kernel.tensors.size(); ++t)
    if (emit.kernel.tensors[t].name == op.tensor) plan.tensor = t;
  const Tensor& tensor = emit.kernel.tensors[plan.tensor];
  for (const Expr& extent : tensor.shape) plan.extents.insert(plan.extents.begin(), extent.evaluate(emit.program.params).value());
  const bool whole_bytes = tensor.dtype != DType::I4 || plan.extents[0] % 2 == 0;
  const bool packed = emit.tiles.plan->packed.contains(op.tensor);
  if (packed) {
    const std::int64_t columns = packed_columns(bits_of(tensor.dtype));
    if (plan.extents[0] % columns != 0 || plan.extents[1] % kPackedRows != 0)
      emit.refuse("tensor_map", op,
                  fmt::format("'{}' moves a tile of a prepacked tensor, which has whole blocks of {} x {}", op.name, kPackedRows, columns));
    plan.extents[0] = plan.extents[0] / columns * kRowsOfBlock;
    plan.extents[1] /= kPackedRows;
    plan.extents.insert(plan.extents.begin(), panels.width);
  } else if (tensor.dtype == DType::I4) {
    plan.extents[0] /= 2;
  }
  plan.extent_texts = extent_texts(emit, op, plan.tensor, panels);
  plan.box.assign(plan.extents.size(), 1);
  plan.box[0] = panels.width;
  if (plan.box.size() > 1) plan.box[1] = panels.rows;
  plan.swizzle = panels.swizzle;
  if (panels.relabelled && plan.extents.size() >= 2) {
    // Of each 16 rows the pairs 0, 2, 4, 6, then 1, 3, 5, 7: as dimensions, with all matrices in the last.
    const std::int64_t columns = plan.extents[0], rows = plan.extents[1], all = plan.extents.size() > 2 ? plan.extents[2] : 1;
    if (rows % panels.rows != 0 || panels.rows % 16 != 0 || plan.extents.size() > 3)
      emit.refuse("tensor_map", op,
                  fmt::format("'{}' brings rows in another order, 16 by 16, of a tensor that has no whole tiles", op.name));
    plan.extents = {columns, 2, 4, 2, rows / 16 * all};
    plan.strides = {1, columns, 4 * columns, 2 * columns, 16 * columns};
    plan.box = {panels.width, 2, 4, 2, panels.rows / 16};
  }
  const std::int64_t bits = std::max(bits_of(tensor.dtype), 8);
  // Coordinates are 32-bit, strides 40-bit (cuTensorMapEncodeTiled).
  std::int64_t stride = bits / 8;
  bool fits = true;
  for (const std::int64_t extent : plan.extents) {
    fits = fits && extent >= 1 && extent < (std::int64_t{1} << 31) && stride < (std::int64_t{1} << 40);
    if (fits) stride *= extent;
  }
  const bool sizes = fits && whole_bytes && plan.extents.size() >= 2 &&
                     (plan.extents.size() <= 3 || panels.relabelled || (packed && plan.extents.size() <= 4)) &&
                     plan.extents[0] * bits % 128 == 0 && bits * panels.width * panels.rows == panels.bytes * 8;
  if (!sizes)
    emit.refuse(
        "tensor_map", op,
        fmt::format("'{}' needs a tensor of the tile's type with two or three dimensions, whose rows are multiples of 16 bytes", op.name));
  // So are a box's rows (cuTensorMapEncodeTiled); swizzled ones are 32 bytes at least.
  if (sizes && plan.box[0] * bits % 128 != 0)
    emit.refuse("tensor_map", op,
                fmt::format("'{}' moves boxes with rows of {} bytes, and rows of a box are multiples of 16 bytes", op.name,
                            plan.box[0] * bits / 8));
  for (std::size_t m = 0; m < emit.launch.maps.size(); ++m)
    if (emit.launch.maps[m] == plan) return m;
  emit.launch.maps.push_back(std::move(plan));
  return emit.launch.maps.size() - 1;
}

/// Each block of a pair loads its own rows of a first operand, and of a second one half of the columns of the mma.
void write_pair_load(EmitContext& emit, const Step& step, const TileOp& op, Panels panels) {
  auto at = box_coordinates(emit, step, op);
  if (emit.program.buffers[step.output.index].shared) {
    bool along_rows = false;
    for (const TileOp& product : emit.kernel.body)
      if (product.kind == "mma" && product.inputs[1].value == emit.kernel.values[step.output.value].name)
        along_rows = flag_attr(product, "transpose_b");
    if (along_rows ? panels.rows % 16 != 0 : panels.count % 2 != 0)
      return emit.refuse("cluster", op, fmt::format("'{}' loads a tile that cannot be halved for a pair of blocks", op.name));
    if (along_rows) {
      panels.rows /= 2;
      panels.bytes /= 2;
      at[1] = fmt::format("{} + rank * {}", at[1], panels.rows);
    } else {
      panels.count /= 2;
      at[0] = fmt::format("{} + rank * {}", at[0], panels.count * panels.width);
    }
  }
  const std::size_t map = map_of(emit, op, panels);
  const std::string barrier = barrier_text(emit, step.barrier, step.cursor);
  emit.text.line("arrive_expect_leader({}, {});", barrier, emit.program.barriers[step.barrier].tx_bytes);
  for (int p = 0; p < panels.count; ++p)
    emit.text.line("tma_load_pair({}{}, &map{}, {}, {});", slot_text(emit, step.output),
                   p > 0 ? fmt::format(" + {}", p * panels.bytes) : "", map, with_panel(at, p * panels.width), barrier);
}

/// Rows that an index names or that are looked up: a box of one row for each, by the thread that loads; it lands where the swizzle of its
/// address says.
void write_gather(EmitContext& emit, const Step& step, const TileOp& op) {
  const auto unfit = [&](const std::string& why) { emit.refuse("gather", op, fmt::format("'{}' {}", op.name, why)); };
  const Place* index = looks_rows_up(op) ? nullptr : &step.inputs.at(0);
  if (index && (index->kind != Place::Kind::Buffer || emit.program.buffers[index->index].registers ||
                emit.kernel.values[index->value].dtype != DType::I32))
    return unfit("takes its rows by an index that is no i32 vector in shared memory");
  if (emit.program.buffers[step.output.index].shared) return unfit("gathers for both blocks of a cluster");
  auto panels = panels_of(emit, step.output.value, op);
  if (!panels) return;
  const std::int64_t rows = panels->rows, row_bytes = panels->bytes / rows;
  if (row_bytes % 128 != 0) return unfit(fmt::format("gathers rows of {} bytes; a box begins at a multiple of 128", row_bytes));
  Panels one = *panels;
  one.rows = 1, one.bytes = row_bytes;
  const std::size_t map = map_of(emit, op, one);
  if (op.at.size() != 2) return;  // map_of() or the shapes have refused it
  const std::string barrier = barrier_text(emit, step.barrier, step.cursor);
  emit.text.line("arrive_expect({}, {});", barrier, emit.program.barriers[step.barrier].tx_bytes);
  emit.text.raw("#pragma unroll 4");
  emit.text.open("for (int r = 0; r < {}; ++r) {{", rows);
  std::vector<std::string> at = coordinates(emit, step, op);
  if (index) {
    emit.text.raw("u32 row;");
    emit.text.line("load_word({} + r * 4, row);", value_text(emit, *index));
    at[1] = "int(row)";
  }
  for (int p = 0; p < panels->count; ++p)
    emit.text.line("tma_load({} + r * {}{}, &map{}, {}, {});", slot_text(emit, step.output), row_bytes,
                   p > 0 ? fmt::format(" + {}", p * panels->bytes) : "", map, with_panel(at, p * panels->width), barrier);
  emit.text.close();
}

/// Boxes of a store: their map, where they begin, and how far behind the tile's first row, in bytes, as text.
struct StoredBoxes {
  std::size_t map = 0;
  std::vector<std::string> at;
  std::string behind = {};
};

/// One for each panel.
void write_boxes(EmitContext& emit, const Step& step, const Panels& panels, const StoredBoxes& boxes) {
  const char* name = op_of(emit.kernel, step.op).kind == "atomic_add" ? "tma_add" : "tma_store";
  const int count = panels.count / step.piece.count, first = step.piece.number * count;
  for (int p = 0; p < count; ++p)
    emit.text.line("{}(&map{}, {}{}{}, {});", name, boxes.map, slot_text(emit, step.inputs[0]),
                   p > 0 ? fmt::format(" + {}", p * panels.bytes) : "", boxes.behind, with_panel(boxes.at, (first + p) * panels.width));
}

/// A whole tile by boxes as high as it is; of one that reaches beyond the end every row before it by a box of its own, which a swizzle that
/// follows from addresses finds where it lies.
void write_rows_before(EmitContext& emit, const Step& step, const Expr& before, const Panels& panels) {
  const TileOp& op = op_of(emit.kernel, step.op);
  const std::int64_t row_bytes = panels.bytes / panels.rows;
  if (panels.relabelled || emit.tiles.plan->packed.contains(op.tensor) || emit.tiles.values[step.inputs[0].value].shape.size() != 2 ||
      row_bytes % 128 != 0)
    return emit.refuse("tile_shape", op,
                       fmt::format("'{}' leaves rows as they are; that can be written for rows in their order, whose parts are multiples "
                                   "of 128 bytes",
                                   op.name));
  Panels one = panels;
  one.rows = 1, one.bytes = row_bytes;
  StoredBoxes whole{map_of(emit, op, panels), coordinates(emit, step, op)}, row{map_of(emit, op, one), whole.at};
  const std::string end = row_text(emit, step, op, before);
  emit.text.open();
  emit.text.line("const int row = {}, rows = {} - row;", whole.at[1], end);
  emit.text.open("if (rows >= {}) {{", panels.rows);
  whole.at[1] = "row";
  write_boxes(emit, step, panels, whole);
  emit.text.close("} else {");
  emit.text.indent();
  emit.text.raw("#pragma unroll 1");
  emit.text.open("for (int r = 0; r < rows; ++r) {{");
  row.at[1] = "row + r", row.behind = fmt::format(" + r * {}", row_bytes);
  write_boxes(emit, step, panels, row);
  emit.text.close();
  emit.text.close();
  emit.text.close();
}

}  // namespace

void write_load(EmitContext& emit, const Step& step) {
  const TileOp& op = op_of(emit.kernel, step.op);
  if (op.kind == "gather") return write_gather(emit, step, op);
  if (op.kind != "tma_load")
    return emit.refuse("load_kind", op, fmt::format("'{}' is a {}; loads by tma_load and gather can be written", op.name, op.kind));
  const auto panels = panels_of(emit, step.output.value, op);
  if (!panels) return;
  if (emit.program.pair && is_leaders(emit, step.barrier)) return write_pair_load(emit, step, op, *panels);
  // Each block of a cluster brings a part to all of them: some panels, or some rows of every panel, whose swizzle begins anew every 8.
  const bool shared = emit.program.buffers[step.output.index].shared;
  const int blocks = shared ? emit.program.cluster : 1;
  const bool by_rows = panels->count % blocks != 0;
  if (by_rows && panels->rows % (8 * blocks) != 0)
    return emit.refuse("cluster", op,
                       fmt::format("'{}' loads {} panels of {} columns and {} rows, which do not make equal parts for {} blocks", op.name,
                                   panels->count, panels->width, panels->rows, blocks));
  Panels part = *panels;
  if (by_rows)
    part.rows /= blocks, part.bytes /= blocks;
  else
    part.count /= blocks;
  const std::size_t map = map_of(emit, op, part);
  std::vector<std::string> at = box_coordinates(emit, step, op);
  const std::string barrier = barrier_text(emit, step.barrier, step.cursor);
  std::string to = slot_text(emit, step.output), all;
  if (shared) {
    to += fmt::format(" + rank * {}", by_rows ? part.bytes : part.count * part.bytes);
    at[by_rows] = fmt::format("{} + rank * {}", at[by_rows], by_rows ? part.rows : part.count * part.width);
    all = fmt::format(", {}", (1 << blocks) - 1);
  }
  if (part.relabelled) at = relabelled_coordinates(emit, op, at);
  emit.text.line("arrive_expect({}, {});", barrier, emit.program.barriers[step.barrier].tx_bytes);
  for (int p = 0; p < part.count; ++p)
    emit.text.line("tma_load{}({}{}, &map{}, {}, {}{});", shared ? "_all" : "", to, p > 0 ? fmt::format(" + {}", p * panels->bytes) : "",
                   map, with_panel(at, p * part.width), barrier, all);
}

void write_store(EmitContext& emit, const Step& step) {
  const TileOp& op = op_of(emit.kernel, step.op);
  const bool add = op.kind == "atomic_add";
  if ((op.kind != "tma_store" && !add) || step.inputs.at(0).kind != Place::Kind::Buffer)
    return emit.refuse("store_kind", op,
                       fmt::format("'{}' is a {}; tma_store and atomic_add of tiles in shared memory can be written", op.name, op.kind));
  if (add && emit.kernel.values[step.inputs[0].value].dtype != DType::F32)
    return emit.refuse("store_kind", op, fmt::format("'{}' adds something else than f32", op.name));
  const auto panels = panels_of(emit, step.inputs.at(0).value, op);
  if (!panels) return;
  if (panels->count % step.piece.count != 0)
    return emit.refuse("tile_shape", op,
                       fmt::format("'{}' stores {} pieces, and its tile lies in {} panels", op.name, step.piece.count, panels->count));
  if (!emit.one_thread) emit.text.open("if (tid == 0) {{");
  if (const auto before = end_of_rows(op))
    write_rows_before(emit, step, *before, *panels);
  else
    write_boxes(emit, step, *panels, {map_of(emit, op, *panels), coordinates(emit, step, op)});
  if (!emit.one_thread) emit.text.close();
}

}  // namespace heddle::codegen
