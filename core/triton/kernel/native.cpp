#include "core/triton/kernel/native.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/kernel/op_shapes.h"
#include "core/kernel/validate.h"
#include "core/triton/kernel/native_builder.h"

namespace heddle::triton {
namespace {

constexpr int kHopperGroups = 3, kBlackwellGroups = 5;

bool moves_memory(const std::string& kind) {
  return kind == "tma_load" || kind == "tma_store" || kind == "load" || kind == "store" || kind == "gather" || kind == "atomic_add";
}

/// The place "/list/index/..." of a kernel.
struct Place {
  std::string_view list;
  std::size_t index = 0;
};

std::optional<Place> place_of(std::string_view pointer) {
  if (!pointer.starts_with('/')) return std::nullopt;
  pointer.remove_prefix(1);
  Place place;
  const std::size_t end = std::min(pointer.find('/'), pointer.size());
  place.list = pointer.substr(0, end);
  if (end < pointer.size()) std::from_chars(pointer.data() + end + 1, pointer.data() + pointer.size(), place.index);
  return place;
}

/// The line of the op that the kernel's op was made from, or its first part; 0: it has none.
int line_of(const Native& native, const std::string& op) {
  int line = 0;
  std::size_t longest = 0;  // the parts of "s_9" are "s_9_0", "s_9_1"
  for (const Origin& origin : native.origins)
    if (origin.op.size() >= longest && op.starts_with(origin.op)) longest = origin.op.size(), line = origin.text_line;
  return line;
}

}  // namespace

Error said_of_text(Error error, const Program& program, const Native& native, const Kernel& kernel, const std::string& hint) {
  for (Fault& fault : error.faults) {
    const std::optional<Place> place = place_of(fault.pointer);
    if (!place || fault.file != kernel.source) continue;
    std::string what = "what Heddle makes of the loop cannot be worked out";
    int line = 0;
    const auto op_where = [&](const auto& meant) {
      for (const TileOp& each : kernel.body)
        if (line == 0 && meant(each)) line = line_of(native, each.name);
    };
    if (place->list == "tensors" && place->index < kernel.tensors.size()) {
      const std::string& name = kernel.tensors[place->index].name;
      what = fmt::format("how large the tensor '{}' is cannot be worked out from the addresses of this op", name);
      op_where([&](const TileOp& each) { return each.tensor == name; });
    } else if (place->list == "values" && place->index < kernel.values.size()) {
      const std::string& name = kernel.values[place->index].name;
      what = fmt::format("how large the tile '{}' is cannot be worked out", name);
      op_where([&](const TileOp& each) { return std::find(each.outputs.begin(), each.outputs.end(), name) != each.outputs.end(); });
    } else if (place->list == "body" && place->index < kernel.body.size()) {
      const TileOp& each = kernel.body[place->index];
      what = fmt::format("what the op '{}' costs cannot be worked out", each.name);
      line = line_of(native, each.name);
    } else if (place->list == "loop") {
      what = "how often the loop runs cannot be worked out";
    } else if (place->list == "grid") {
      what = "how many blocks there are cannot be worked out";
    }
    fault.file = program.file;
    fault.pointer = line > 0 ? std::to_string(line) : "";
    fault.message = what + ": " + fault.message;
    if (fault.hint.empty()) fault.hint = hint;
  }
  return error;
}

Error unresolved_text(Error error, const Program& program, const Native& native, const Kernel& kernel) {
  std::string names;
  for (const Param& param : kernel.params) names += (names.empty() ? "" : ", ") + param.name;
  return said_of_text(std::move(error), program, native, kernel,
                      names.empty() ? "" : "--param NAME=VALUE says what the text does not: " + names);
}

NativeBuilder::NativeBuilder(const Program& program, const LoopSite& loop, Reading reading, Graph graph)
    : program_(program), loop_(loop), reading_(reading), graph_(std::move(graph)), flow_(program, loop.op), scalars_(flow_) {
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n) nodes_.emplace(graph_.nodes[n].op, n);
  row_vectors_ = std::none_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& node) {
    const mlir::Op& each = program_.module->op(node.op);
    const auto flat = [&](mlir::ValueId v) { return program_.type(v).tile.tile() && program_.type(v).tile.shape.size() > 1; };
    return std::any_of(each.results.begin(), each.results.end(), flat) || std::any_of(each.operands.begin(), each.operands.end(), flat);
  });
}

std::optional<std::size_t> NativeBuilder::node_of(mlir::OpId op) const {
  const auto it = nodes_.find(op);
  return it == nodes_.end() ? std::nullopt : std::optional(it->second);
}

void NativeBuilder::refuse(const mlir::Op& op, std::string why) {
  if (error_.faults.size() < 64) error_.faults.push_back({program_.file, fmt::format("{}", op.line), std::move(why), {}});
}

std::string NativeBuilder::fresh_op(const std::string& name) {
  const std::string wanted = kernel_name(name);
  std::string free = wanted;
  for (int i = 2; !op_names_.insert(free).second; ++i) free = fmt::format("{}_{}", wanted, i);
  return free;
}

std::vector<std::int64_t> NativeBuilder::shape_of(const Type& type, bool transposed) const {
  std::vector<std::int64_t> shape = type.tile.shape;
  if (shape.empty()) return {1};
  if (shape.size() == 1 && row_vectors_) shape.insert(shape.begin(), 1);
  // A tile of one row or one column is a vector beside tiles of two dimensions.
  if (shape.size() == 2 && !row_vectors_ && (shape[0] == 1 || shape[1] == 1)) return {std::max(shape[0], shape[1])};
  if (transposed && shape.size() == 2) std::swap(shape[0], shape[1]);
  return shape;
}

bool NativeBuilder::beside_product(const Layout& layout) const {
  if (layout.kind != Layout::Kind::Slice || layout.parent.empty()) return false;
  const Layout::Kind parent = layout.parent[0].kind;
  return parent == Layout::Kind::NvidiaMma || (program_.target >= 100 && parent == Layout::Kind::Linear);
}

/// A vector beside a product's tile: on Hopper a thread has two of every eight columns and two of every 64 rows, on Blackwell a row.
std::int64_t NativeBuilder::vector_registers(const Type& type, std::int64_t extent) const {
  const bool column = type.layout.kind == Layout::Kind::Slice && type.layout.dim == 0, blackwell = program_.target >= 100;
  return std::max<std::int64_t>(1, extent / (column ? (blackwell ? 1 : 4) : blackwell ? 128 : 32));
}

std::string NativeBuilder::add_value(const std::string& name, const Type& type, Space space, bool transposed) {
  const std::string wanted = kernel_name(name);
  std::string free = wanted;
  for (int i = 2; !value_names_.insert(free).second; ++i) free = fmt::format("{}_{}", wanted, i);
  TileValue value;
  value.name = free;
  value.dtype = dump::nearest_dtype(type.tile);
  if (type.tile.bits == 1) value.dtype = DType::F32;  // a flag of a comparison: 0 or 1
  if (type.tile.tile() && !is_float(type) && type.tile.bits > 1 && type.tile.bits < 32)
    scalars_.note(fmt::format("integers of {0} bits are taken as numbers of {0} bits", type.tile.bits));
  value.space = space;
  Shape shape;
  shape.extents = shape_of(type, transposed);
  for (const std::int64_t extent : shape.extents) {
    value.shape.emplace_back(extent);
    shape.dims.push_back(static_cast<int>(classes_.size()));
    classes_.push_back(static_cast<int>(classes_.size()));
  }
  // Row statistics are held several times; who reads by the text knows exactly, else it follows from the product's layout.
  if (space == Space::Register) {
    const std::int64_t exact = registers_per_thread(type, program_.num_warps);
    if (reading_ == Reading::Triton && exact > 0)
      value.registers = Expr(exact);
    else if (shape.extents.size() == 1 && beside_product(type.layout))
      value.registers = Expr(vector_registers(type, shape.extents[0]));
    else if (type.tile.shape.empty())
      value.registers = Expr(1);
  }
  transposed_[free] = transposed;
  shapes_[free] = std::move(shape);
  native_.kernel.values.push_back(std::move(value));
  return free;
}

TileOp& NativeBuilder::add_op(Part part, const mlir::Op& from, std::string name, std::string kind, std::vector<Operand> inputs,
                              std::vector<std::string> outputs) {
  std::vector<TileOp>& list = part == Part::Prologue ? native_.kernel.prologue
                              : part == Part::Body   ? native_.kernel.body
                                                     : native_.kernel.epilogue;
  TileOp& op = list.emplace_back();
  op.name = fresh_op(name);
  op.kind = std::move(kind);
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  if (part == Part::Body) {
    Origin& origin = native_.origins.emplace_back();
    origin.op = op.name;
    const auto node = node_of(mlir::OpId(static_cast<std::size_t>(&from - program_.module->ops.data())));
    set_origin(node ? graph_.fused[graph_.nodes[*node].fused] : std::vector<std::size_t>{}, from);
  }
  return op;
}

void NativeBuilder::set_origin(const std::vector<std::size_t>& nodes, const mlir::Op& from) {
  Origin& origin = native_.origins.back();
  const mlir::Op* first = &from;
  for (const std::size_t n : nodes) origin.of.push_back(graph_.nodes[n].op);
  if (nodes.empty()) origin.of.push_back(mlir::OpId(static_cast<std::size_t>(&from - program_.module->ops.data())));
  const mlir::Location& place = program_.module->location(*first);
  origin.file = place.file;
  origin.line = place.line;
  // What a library function computes is looked for where it was called.
  for (const auto& [file, line] : place.callers)
    if (origin.file.find("triton/language") != std::string::npos || origin.file.empty()) {
      origin.file = file;
      origin.line = line;
    }
  origin.text_line = first->line;
  if (from.find("loop.stage")) origin.stage = from.integer("loop.stage", 0);
  if (from.find("loop.cluster")) origin.cluster = from.integer("loop.cluster", 0);
  if (!nodes.empty() && !graph_.nodes[nodes.back()].partitions.empty()) origin.partition = graph_.nodes[nodes.back()].partitions.front();
}

bool NativeBuilder::transposed_view(mlir::ValueId value) const {
  bool odd = false;
  for (int passage = 0; passage < 256; ++passage) {
    value = flow_.carried(value).value;
    const mlir::OpId definer = program_.module->value(value).definer;
    if (!definer.valid()) break;
    const mlir::Op& each = op(definer);
    const std::string name = find_op(each.name) ? present_name(each.name) : each.name;
    if (name == "ttg.memdesc_trans" || name == "tt.trans") odd = !odd;
    const auto role = work_of(program_, each);
    const bool alloc = role == Role::SharedAlloc && !each.operands.empty() && !is_tile_op(program_, flow_, each);
    if ((role != Role::View && !alloc) || each.operands.empty()) break;
    value = each.operands[0];
  }
  return odd;
}

// ---- dimensions: which extents are one and the same, so that a tile can be cut along one of them

int NativeBuilder::root_of(int dim) {
  while (classes_[static_cast<std::size_t>(dim)] != dim) dim = classes_[static_cast<std::size_t>(dim)];
  return dim;
}

void NativeBuilder::link(const std::string& a, std::size_t dim_a, const std::string& b, std::size_t dim_b) {
  const auto x = shapes_.find(a), y = shapes_.find(b);
  if (x == shapes_.end() || y == shapes_.end() || dim_a >= x->second.dims.size() || dim_b >= y->second.dims.size()) return;
  if (x->second.extents[dim_a] != y->second.extents[dim_b]) return;
  const int from = root_of(x->second.dims[dim_a]), to = root_of(y->second.dims[dim_b]);
  classes_[static_cast<std::size_t>(std::max(from, to))] = std::min(from, to);
}

void NativeBuilder::link_op(const TileOp& each) {
  if (each.outputs.empty()) return;
  const std::string& out = each.outputs[0];
  const std::size_t rank = shapes_[out].extents.size();
  if (each.kind == "mma") {
    const bool ta = flag_attr(each, "transpose_a"), tb = flag_attr(each, "transpose_b");
    link(each.inputs[0].value, ta, out, 0);
    link(each.inputs[1].value, !tb, out, 1);
    link(each.inputs[0].value, !ta, each.inputs[1].value, tb);
    for (std::size_t k = 2; k < each.inputs.size(); ++k)
      for (std::size_t d = 0; d < 2; ++d) link(each.inputs[k].value, d, out, d);
    return;
  }
  if (each.kind.starts_with("reduce_")) {
    const auto along = static_cast<std::size_t>(integer_attr(each, "axis", 1));
    link(each.inputs[0].value, 1 - along, out, 0);
    for (std::size_t k = 1; k < each.inputs.size(); ++k) link(each.inputs[k].value, 0, out, 0);
    return;
  }
  const auto text = each.attrs.find("along");
  for (std::size_t k = 0; k < each.inputs.size(); ++k) {
    const Shape& in = shapes_[each.inputs[k].value];
    if (in.extents.size() == rank) {
      for (std::size_t d = 0; d < rank; ++d) link(each.inputs[k].value, d, out, d);
      continue;
    }
    std::size_t runs = static_cast<std::size_t>(integer_attr(each, "axis", 0));
    if (text != each.attrs.end())
      if (const auto* letters = std::get_if<std::string>(&text->second); letters && k < letters->size()) runs = (*letters)[k] == 'c';
    link(each.inputs[k].value, 0, out, runs);
  }
}

void NativeBuilder::name_dimensions() {
  Kernel& kernel = native_.kernel;
  for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (const TileOp& each : *list) link_op(each);
  // The rows of the products' accumulators, if they are one dimension.
  const TileOp* product = nullptr;
  for (const TileOp& each : kernel.body)
    if (each.kind == "mma") product = &each;
  if (!product) return;
  const Shape& tile = shapes_[product->outputs[0]];
  const int rows = root_of(tile.dims[0]);
  const std::int64_t extent = tile.extents[0];
  for (TileValue& value : kernel.values) {
    const Shape& shape = shapes_[value.name];
    if (std::count_if(shape.dims.begin(), shape.dims.end(), [&](int d) { return root_of(d) == rows; }) > 1) return;
  }
  // A warp group takes 64 rows of a product at a time on Hopper, a tile of tensor memory has 128.
  const std::int64_t of_text = std::max<std::int64_t>(1, program_.num_warps / 4);
  const std::int64_t wanted = program_.target >= 100 ? extent / 128 : std::max<std::int64_t>(of_text, extent >= 128 ? 2 : 1);
  const std::int64_t rows_each = program_.target >= 100 ? 128 : 64;
  const std::int64_t groups = extent % (rows_each * std::max<std::int64_t>(1, wanted)) == 0 && wanted <= 4 ? wanted : 1;
  const bool cuts = groups > 1;
  const std::string name = scalars_.param(scalars_.fresh("ROWS"), extent, extent, "rows of the tile, as the text has them");
  for (TileValue& value : kernel.values) {
    const Shape& shape = shapes_[value.name];
    for (std::size_t d = 0; d < shape.dims.size(); ++d)
      if (root_of(shape.dims[d]) == rows) {
        value.shape[d] = expr_of(name);
        if (value.registers && shape.extents.size() == 1)
          value.registers = expr_of(fmt::format("max(1, {} / {})", name, program_.target >= 100 ? 128 : 32));
      }
  }
  native_.cut = {name, cuts ? groups : 1};
  if (!cuts && program_.target >= 100) cut_columns(product->outputs[0]);
}

/// On Blackwell a tile of 128 rows is one warp group's, so that wide ones that it keeps in registers are cut by columns: until what is
/// carried and the largest of the others take half of a thread's registers.
void NativeBuilder::cut_columns(const std::string& accumulator) {
  Kernel& kernel = native_.kernel;
  constexpr std::int64_t kThreads = 128, kComfortable = 128;
  std::int64_t carried = 0, largest = 0;
  for (const TileValue& value : kernel.values) {
    const Shape& shape = shapes_[value.name];
    const auto defines = [&](const TileOp& each) { return !each.outputs.empty() && each.outputs[0] == value.name; };
    if (value.space != Space::Register || shape.extents.size() != 2 || std::none_of(kernel.body.begin(), kernel.body.end(), defines))
      continue;
    constexpr std::int64_t kLong = 1 << 20;  // longer ones need more registers than there are all the same
    const std::int64_t registers =
        std::min(shape.extents[0], kLong) * std::min(shape.extents[1], kLong) * bits_of(value.dtype) / 32 / kThreads;
    const bool again = std::any_of(kernel.body.begin(), kernel.body.end(), [&](const TileOp& each) {
      return std::any_of(each.inputs.begin(), each.inputs.end(),
                         [&](const Operand& in) { return in.value == value.name && in.distance > 0; });
    });
    (again ? carried : largest) = again ? carried + registers : std::max(largest, registers);
  }
  std::int64_t parts = 1;
  while (parts < 4 && (carried + largest) / parts > kComfortable + kComfortable / 2) parts *= 2;
  const Shape& tile = shapes_[accumulator];
  if (tile.dims.size() != 2 || tile.extents.size() != 2) return;
  const int columns = root_of(tile.dims[1]);
  if (parts == 1 || tile.extents[1] % (16 * parts) != 0) return;
  for (const TileValue& value : kernel.values) {
    const Shape& shape = shapes_[value.name];
    if (std::count_if(shape.dims.begin(), shape.dims.end(), [&](int d) { return root_of(d) == columns; }) > 1) return;
  }
  const std::string name =
      scalars_.param(scalars_.fresh("COLUMNS"), tile.extents[1], tile.extents[1], "columns of the tile, as the text has them");
  for (TileValue& value : kernel.values) {
    const Shape& shape = shapes_[value.name];
    for (std::size_t d = 0; d < shape.dims.size(); ++d)
      if (root_of(shape.dims[d]) == columns) {
        value.shape[d] = expr_of(name);
        if (value.registers && shape.extents.size() == 1) value.registers = expr_of(name);
      }
  }
  native_.cut = {name, parts};
}

// ---- what Triton's lowering makes of an op

void NativeBuilder::set_costs() {
  const bool hopper = program_.target < 100;
  Kernel& kernel = native_.kernel;
  for (TileOp& each : kernel.body) {
    const bool alone = each.kind == "mma" || moves_memory(each.kind);
    CostOverride cost = each.cost.value_or(CostOverride{});
    // One stream of all warps; on Blackwell single threads issue products and copies.
    if (hopper || !alone) cost.warps = Expr(program_.num_warps);
    // On Hopper a product whose result is read in its own iteration is waited for at once.
    if (hopper && each.kind == "mma") {
      const auto reads = [&](const TileOp& other) {
        return std::any_of(other.inputs.begin(), other.inputs.end(),
                           [&](const Operand& in) { return in.value == each.outputs[0] && in.distance == 0; });
      };
      cost.blocking = std::any_of(kernel.body.begin(), kernel.body.end(), reads);
    }
    each.cost = cost;
  }
}

/// How many slots Triton gives to what products leave in tensor memory, and to what they read there.
void NativeBuilder::add_tensor_rings() {
  const Memory memory = memory_of(program_);
  for (const Node& node : graph_.nodes) {
    const mlir::Op& each = op(node.op);
    const auto role = work_of(program_, each);
    const auto value = in_memory_.find(node.op);
    if (value == in_memory_.end() || (role != Role::TensorProduct && role != Role::TensorAlloc)) continue;
    const mlir::ValueId root = role == Role::TensorProduct ? flow_.storage(each.operands[2]) : each.results[0];
    const std::string& name = program_.module->value(root).name;
    for (const Buffer& buffer : memory.buffers)
      if (buffer.columns > 0 && buffer.name == name)
        native_.rings.push_back({value->second, 0, static_cast<int>(std::clamp<std::int64_t>(buffer.slots, 1, 64))});
  }
}

Result<Native> NativeBuilder::build() {
  Kernel& kernel = native_.kernel;
  kernel.name = kernel_name(program_.kernel);
  native_.ops = loop_.ops;
  native_.tile_ops = graph_.nodes.size();
  native_.edges = graph_.edges.size();
  native_.fused = graph_.fused.size();
  kernel.source = program_.file;
  if (reading_ == Reading::Triton)
    for (const Buffer& ring : rings_of(program_, loop_)) rings_.emplace(ring.name, ring);
  kernel.loop.variable = Scalars::kLoopVariable;
  const Trips trips = scalars_.trips();
  kernel.loop.trips = trips.most;
  if (trips.of_tile.text() != trips.most.text()) kernel.loop.tile_trips = trips.of_tile;
  add_body();
  if (!error_.faults.empty()) return error_;
  order_memory();
  order_accumulators();
  if (loop_.depth > 0) scalars_.note("a loop around this one is not modelled: each block runs its first turn");
  add_epilogue();
  if (!error_.faults.empty()) return error_;
  if (reading_ == Reading::Triton) {
    set_costs();
    add_tensor_rings();
  } else {
    name_dimensions();
    // Without products nothing binds a group to four warps.
    const bool products = std::any_of(kernel.body.begin(), kernel.body.end(), [](const TileOp& each) { return each.kind == "mma"; });
    for (TileOp& each : kernel.body)
      if (!products && program_.num_warps > 4 && !moves_memory(each.kind)) each.cost.emplace().warps = Expr(program_.num_warps);
  }
  kernel.params = scalars_.params();
  kernel.grid = scalars_.grid();
  if (kernel.grid.empty()) kernel.grid.push_back({"block_x", Expr(1)});
  std::sort(kernel.grid.begin(), kernel.grid.end(), [](const GridDim& a, const GridDim& b) { return a.name < b.name; });
  size_tensors();
  const bool blackwell = program_.target >= 100;
  kernel.producer = reading_ == Reading::Free;
  kernel.max_groups = reading_ == Reading::Free ? (blackwell ? kBlackwellGroups : kHopperGroups) : blackwell ? kBlackwellGroups : 1;
  if (native_.cut.factor > 1) kernel.max_groups = std::max(kernel.max_groups, static_cast<int>(native_.cut.factor) + 1);
  kernel.about = fmt::format(
      "Loop {} (line {}) of the Triton kernel {} for sm_{}, {} warps, {} reading: {} ops, {} of tiles, {} edges; {} after fusing.",
      loop_.number, loop_.line, program_.kernel, program_.target, program_.num_warps, to_string(reading_), native_.ops, native_.tile_ops,
      native_.edges, native_.fused);
  native_.notes = scalars_.notes();
  native_.has_own = reading_ == Reading::Triton && loop_.scheduled;
  if (!loop_.scheduled) native_.why_no_own = "the text stands before Triton has scheduled the loop (tritongpu-schedule-loops)";
  for (const Origin& origin : native_.origins)
    if (native_.has_own && !origin.stage) {
      native_.has_own = false;
      native_.why_no_own = fmt::format("op '{}' (line {}) has no stage", origin.op, origin.text_line);
    }
  Error error{ErrorKind::Input, validate(kernel)};
  if (!error.faults.empty())
    return said_of_text(std::move(error), program_, native_, kernel,
                        "Heddle knows no such addresses yet; heddle audit reads the text without them");
  return std::move(native_);
}

Kernel kernel_of(const Native& native) {
  if (native.cut.factor > 1)
    if (Result<Kernel> cut = subtile(native.kernel, native.cut)) return *std::move(cut);
  return native.kernel;
}

Result<Native> to_native(const Program& program, const LoopSite& loop, Reading reading) {
  Result<Graph> graph = loop_graph(program, loop);
  if (!graph) return graph.error();
  return NativeBuilder(program, loop, reading, *std::move(graph)).build();
}

}  // namespace heddle::triton
