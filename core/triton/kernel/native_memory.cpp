// Loads and stores: which tensor they touch and where, and what of shared memory or registers they fill.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturate.h"
#include "core/triton/kernel/native_builder.h"

namespace heddle::triton {
namespace {

bool too_narrow(const Type& type) {
  const Layout& layout = type.layout;
  if (layout.kind != Layout::Kind::Blocked || layout.order.empty()) return false;
  const auto fastest = static_cast<std::size_t>(std::max<std::int64_t>(0, layout.order[0]));
  return fastest < layout.size_per_thread.size() && layout.size_per_thread[fastest] * type.tile.bits < 32;
}

}  // namespace

void NativeBuilder::put_box(TileOp& made, const Box& box) {
  made.tensor = box.tensor;
  for (const std::string& at : box.at) made.at.push_back(expr_of(at));
}

void NativeBuilder::add_load(std::size_t n) {
  const mlir::Op& load = op(n);
  const Node& node = graph_.nodes[n];
  const bool tma = work_of(program_, load) == Role::DescriptorLoad;
  // Who reads it where, and when the first of them does.
  bool memory = false, registers = false;
  std::optional<std::int64_t> use_stage, use_cluster;
  const mlir::Op* fill = nullptr;
  for (const auto& [id, operand] : readers_[node.op]) {
    const mlir::Op& reader = op(id);
    const auto role = work_of(program_, reader);
    const bool filled = role == Role::SharedAlloc && !is_tile_op(program_, flow_, reader);
    if (filled) fill = &reader;
    const bool view = role == Role::View || filled;
    if (!view) (is_memory(program_.type(operand)) ? memory : registers) = true;
    if (!reader.find("loop.stage") || (view && !filled)) continue;
    const std::int64_t stage = reader.integer("loop.stage", 0);
    if (use_stage && stage >= *use_stage) continue;
    use_stage = stage;
    use_cluster = reader.integer("loop.cluster", 0);
  }
  if (!memory && !registers) registers = true;
  const Type& type = result(load);
  Box box = tma ? descriptor_box(load, 0, type, false) : pointer_box(load, type, false);
  if (!tma) note_padding(load);
  // Held the other way round only where products alone read it.
  if (box.transposed && registers) {
    scalars_.note(fmt::format("line {} loads a tile whose columns are contiguous: which elements it reads is not modelled", load.line));
    box.transposed = false;
    box.at.assign(box.at.size(), "0");
  }
  const auto ring = rings_.find(program_.module->value(load.results[0]).name);
  const bool decided = reading_ == Reading::Triton && loop_.scheduled;
  const bool ahead = node.stage && use_stage && *node.stage < *use_stage;
  // A copy that Triton left where it is read is too narrow for cp.async (it puts all others ahead): it brings the tile into registers. In a
  // text that is not scheduled yet the layout tells: fewer than 4 bytes of a thread in a row.
  const bool narrow = loop_.scheduled ? !ahead : too_narrow(type);
  const bool into_registers = !tma && (reading_ == Reading::Free         ? !memory
                                       : decided && ring != rings_.end() ? ring->second.synchronous
                                                                         : narrow);
  const auto later = [&](TileOp&) {
    if (use_stage) native_.origins.back().stage = use_stage;
    if (use_cluster) native_.origins.back().cluster = use_cluster;
    if (fill) native_.origins.back().text_line = fill->line;
  };
  if (into_registers) {
    const std::string tile = in_registers_[node.op] = add_value(node.name, type, Space::Register, box.transposed);
    TileOp& made = add_op(Part::Body, load, tile, "load", {}, {tile});
    put_box(made, box);
    load_names_[n] = made.name;
    if (memory) {
      const std::string stored = in_memory_[node.op] = add_value(node.name + "_smem", type, Space::Smem, box.transposed);
      later(add_op(Part::Body, load, stored, "smem_store", {{tile, 0}}, {stored}));
    }
    return;
  }
  const std::string tile = in_memory_[node.op] = add_value(node.name, type, Space::Smem, box.transposed);
  TileOp& made = add_op(Part::Body, load, tile, tma ? "tma_load" : "load", {}, {tile});
  put_box(made, box);
  load_names_[n] = made.name;
  if (!tma) made.attrs["variant"] = std::string("async");
  native_.origins.back().waits = decided && !ahead;
  if (ring != rings_.end())
    native_.rings.push_back({tile, ring->second.bytes, static_cast<int>(std::clamp<std::int64_t>(ring->second.slots, 1, 64))});
  if (registers) {
    const std::string read = in_registers_[node.op] = add_value(node.name + "_read", type, Space::Register);
    later(add_op(Part::Body, load, read, "smem_load", {{tile, 0}}, {read}));
  }
}

/// Offsets and bounds of a tile of pointers that are computed in the loop: an instruction for each 16 bytes that are moved, two where it
/// is a pointer of 64 bits. Heddle's own kernels compute addresses from scalars, so that only Triton pays.
void NativeBuilder::add_index_work(std::size_t n) {
  const mlir::Op& load = op(n);
  if (reading_ != Reading::Triton || work_of(program_, load) != Role::PointerLoad) return;
  std::set<mlir::OpId> seen;
  std::vector<mlir::ValueId> open(load.operands.begin(), load.operands.end());
  std::int64_t instructions = 0;
  while (!open.empty() && seen.size() < 4096) {
    const Source from = flow_.carried(open.back());
    open.pop_back();
    if (!from.op.valid() || !seen.insert(from.op).second) continue;
    const mlir::Op& each = op(from.op);
    if (is_tile_op(program_, flow_, each)) continue;
    open.insert(open.end(), each.operands.begin(), each.operands.end());
    if (work_of(program_, each) == Role::Index && !result(each).tile.shape.empty()) {
      // A bound on one dimension is computed once for each element of that dimension.
      const std::int64_t share =
          std::max<std::int64_t>(1, result(load).tile.elements() / std::max<std::int64_t>(1, result(each).tile.elements()));
      instructions += (result(each).pointer ? 2 : 1) * result(load).tile.bytes() / 16 / share;
    }
  }
  if (instructions == 0) return;
  TileOp& work = add_op(Part::Body, load, "index_" + graph_.nodes[n].name, "opaque", {}, {});
  CostOverride& cost = work.cost.emplace();
  constexpr std::int64_t kLanes = 64,
                         kPipeline = 6;  // integer lanes of an SM, and cycles until a dependent instruction: as in the machine files
  const std::int64_t cycles = (instructions + kLanes - 1) / kLanes;
  cost.uses.emplace().push_back({"ALU", Expr(0), Expr(cycles), Expr(1), Expr(0)});
  cost.latency = Expr(cycles + kPipeline);
  cost.window = Expr(cycles);
  native_.kernel.order.push_back({work.name, load_names_.at(n), std::nullopt, 0, std::nullopt});
}

void NativeBuilder::note_padding(const mlir::Op& load) {
  // tt.load pointers, mask, other.
  if (load.operands.size() > 1) scalars_.note("masks of loads and stores are taken as the bounds of their tensors");
  if (load.operands.size() < 3) return;
  const auto other = scalars_.number(load.operands[2]);
  if (other && *other != "0" && *other != "-0")
    scalars_.note(fmt::format("line {} takes {} outside of the tensor; here it reads as zero", load.line, *other));
}

/// A number stored alone is no tile: it is not part of the kernel here, which is said.
void NativeBuilder::note_scalar_store(const mlir::Op& store) {
  if ((store.name == "tt.store" || store.name == "tt.atomic_rmw") && work_of(program_, store) == Role::Index)
    scalars_.note(fmt::format("line {} stores a single number ({}), which is not part of the kernel here", store.line, store.name));
}

/// What the loop stores it may load again: in the order of the text, and in the next iteration.
/// What uses the same tensor keeps the order of the text, and the loop's next turn comes behind it.
void NativeBuilder::order_memory() {
  const std::vector<TileOp>& body = native_.kernel.body;
  const auto after = [&](const TileOp& first, const TileOp& second, int distance, std::optional<Expr> latency = std::nullopt) {
    native_.kernel.order.push_back({first.name, second.name, std::move(latency), distance, std::nullopt});
  };
  const auto reads = [](const TileOp& op, const TileOp& load) {
    return std::any_of(op.inputs.begin(), op.inputs.end(),
                       [&](const Operand& in) { return in.value == load.outputs[0] && in.distance == 0; });
  };
  for (std::size_t store = 0; store < body.size(); ++store) {
    if (body[store].tensor.empty() || !body[store].outputs.empty()) continue;
    for (std::size_t other = 0; other < body.size(); ++other) {
      if (other == store || body[other].tensor != body[store].tensor) continue;
      if (body[other].outputs.empty()) {
        if (store < other) after(body[store], body[other], 0);
        continue;
      }
      after(body[store], body[other], store < other ? 0 : 1);
      after(body[other], body[store], other < store ? 0 : 1);
      // Triton waits for a load where it is read first.
      for (std::size_t reader = other; other < store && reader < store; ++reader)
        if (reads(body[reader], body[other])) after(body[reader], body[store], 0, Expr(0));
      scalars_.note(fmt::format("'{}' is loaded and stored in the loop: loads and stores of it keep their order", body[store].tensor));
    }
  }
}

void NativeBuilder::add_store(Part part, const mlir::Op& store, const std::string& name, const std::string& value) {
  const auto role = work_of(program_, store);
  const mlir::ValueId stored = flow_.stored(store);
  const Type& type = program_.type(stored);
  const bool tma = role == Role::DescriptorStore || role == Role::DescriptorReduce;
  Box box = tma ? descriptor_box(store, 0, type, true) : pointer_box(store, type, true);
  if (box.transposed) {
    scalars_.note(fmt::format("line {} stores columns that are contiguous: which elements it writes is not modelled", store.line));
    box.at.assign(box.at.size(), "0");
  }
  Operand from{value, 0};
  const Space space = native_.kernel.find_value(value)->space;
  if (tma && space == Space::Register) {
    const std::string staged = add_value(value + "_out", type, Space::Smem);
    add_op(part, store, name + "_stage", "smem_store", {from}, {staged});
    from.value = staged;
  }
  const bool adds = role == Role::DescriptorReduce || role == Role::Atomic;
  if (adds && store.words.find("add") == std::string::npos)
    return refuse(store, fmt::format("{}: only additions have a kind here", store.name));
  TileOp& made = add_op(part, store, name, adds ? "atomic_add" : tma ? "tma_store" : "store", {from}, {});
  put_box(made, box);
}

std::string NativeBuilder::tensor_of(const std::string& name, const std::string& element, const std::vector<std::string>& shape,
                                     bool writes, bool reads) {
  dump::TileType type;
  type.element = element;
  type.bits = element.starts_with("f8") ? 8 : element == "f32" || element == "i32" ? 32 : 16;
  const std::string wanted = kernel_name(name);
  const auto same = [&](const Tensor& t) {
    return t.shape.size() == shape.size() &&
           std::equal(shape.begin(), shape.end(), t.shape.begin(), [](const std::string& s, const Expr& e) { return e.text() == s; });
  };
  std::string free = wanted;
  Tensor* tensor = nullptr;
  for (int i = 2;; ++i) {
    const auto it =
        std::find_if(native_.kernel.tensors.begin(), native_.kernel.tensors.end(), [&](const Tensor& t) { return t.name == free; });
    if (it == native_.kernel.tensors.end()) break;
    if (same(*it)) {
      tensor = &*it;
      break;
    }
    free = fmt::format("{}_{}", wanted, i);
  }
  if (!tensor) {
    tensor = &native_.kernel.tensors.emplace_back();
    tensor->name = free;
    tensor->dtype = dump::nearest_dtype(type);
    for (const std::string& extent : shape) tensor->shape.push_back(expr_of(extent));
  }
  if (reads) read_.insert(free);
  if (writes) written_.insert(free);
  tensor->role = read_.contains(free) ? (written_.contains(free) ? TensorRole::InOut : TensorRole::Input) : TensorRole::Output;
  return free;
}

NativeBuilder::Box NativeBuilder::descriptor_box(const mlir::Op& each, std::size_t at, const Type& tile, bool writes) {
  const mlir::Module& module = *program_.module;
  Box box;
  mlir::ValueId descriptor = at < each.operands.size() ? each.operands[at] : mlir::ValueId{};
  for (const mlir::ValueId operand : each.operands)
    if (program_.type(operand).descriptor) descriptor = operand;
  // Coordinates stand in brackets.
  std::vector<mlir::ValueId> places;
  for (std::size_t i = 0; i < each.operands.size(); ++i)
    if (i < each.bracketed.size() && each.bracketed[i] && program_.type(each.operands[i]).tile.shape.empty())
      places.push_back(each.operands[i]);
  for (const mlir::ValueId place : places) box.at.push_back(scalars_.text(place));
  std::string name = "tensor";
  std::vector<std::string> shape;
  if (descriptor.valid()) {
    for (int passage = 0; passage < 64; ++passage) {
      descriptor = flow_.carried(descriptor).value;
      const mlir::OpId definer = module.value(descriptor).definer;
      if (!definer.valid() || work_of(program_, op(definer)) != Role::View || op(definer).operands.empty()) break;
      descriptor = op(definer).operands[0];
    }
    const mlir::Value& value = module.value(descriptor);
    name = value.name;
    if (value.definer.valid() && op(value.definer).name == "tt.make_tensor_descriptor") {
      // pointer, [shape], [strides]
      const mlir::Op& made = op(value.definer);
      if (!made.operands.empty()) name = module.value(flow_.carried(made.operands[0]).value).name;
      for (std::size_t d = 0; d < box.at.size() && d + 1 < made.operands.size(); ++d) shape.push_back(scalars_.text(made.operands[d + 1]));
    } else if (!value.definer.valid() && value.block.valid()) {
      for (const mlir::ValueId argument : module.block(value.block).arguments)
        for (std::size_t d = 0; d < box.at.size(); ++d)
          if (module.value(argument).name == fmt::format("{}.shape.{}", name, d) && shape.size() == d)
            shape.push_back(scalars_.text(argument));
    }
  }
  while (shape.size() < box.at.size())
    shape.push_back(
        scalars_.param(fmt::format("{}_shape_{}", name, shape.size()), 4096, 256, "an extent of the tensor, which the text does not say"));
  const std::size_t rank = shape_of(tile, false).size();
  while (box.at.size() < rank) {
    box.at.insert(box.at.begin(), "0");
    shape.insert(shape.begin(), "1");
  }
  const std::string element = tile.tile.element;
  const bool reads = !writes || work_of(program_, each) == Role::DescriptorReduce;
  box.tensor = tensor_of(name, element, shape, writes, reads);
  return box;
}

NativeBuilder::Box NativeBuilder::pointer_box(const mlir::Op& each, const Type& tile, bool writes) {
  const mlir::Module& module = *program_.module;
  Box box;
  auto affine = each.operands.empty() ? std::nullopt : scalars_.affine(each.operands[0]);
  std::string name = "memory";
  if (affine && affine->pointer.valid()) name = module.value(affine->pointer).name;
  const bool reads = !writes || work_of(program_, each) == Role::Atomic;
  const auto length = [&](const std::string& of) {
    return scalars_.param(fmt::format("{}_{}", name, of), 4096, 256, "an extent of the tensor, which the text does not say");
  };
  // A tile of one row or one column is a vector.
  for (std::size_t d = tile.tile.shape.size(); affine && tile.tile.shape.size() == 2 && d-- > 0;)
    if (tile.tile.shape[d] == 1 && affine->strides.size() == 2)
      affine->strides.erase(affine->strides.begin() + static_cast<std::ptrdiff_t>(d));
  const std::size_t rank = affine ? affine->strides.size() : tile.tile.shape.size();
  const Expr base = affine ? affine->base : Expr();
  const auto of_base = [&](Operator op, const Expr& by) { return combine(op, {base, by}).text(); };
  if (affine && rank == 2 && affine->strides.size() == rank) {
    const Expr &down = affine->strides[0], &across = affine->strides[1];
    box.transposed = down.text() == "1" && across.text() != "1";
    const Expr& line = box.transposed ? down : across;
    const Expr& pitch = box.transposed ? across : down;
    if (line.text() == "1" && !pitch.is_zero()) {
      // Memory as rows of `pitch` elements: what the place of an element is divided by.
      box.at = {of_base(Operator::Divide, pitch), of_base(Operator::Modulo, pitch)};
      if (pitch.text() == "1" || base.is_zero()) box.at = {base.text(), "0"};
      box.tensor = tensor_of(name, tile.tile.element, {length("rows"), pitch.text()}, writes, reads);
      return box;
    }
    box.transposed = false;
  }
  if (affine && rank == 1 && affine->strides.size() == rank) {
    const Expr& stride = affine->strides[0];
    if (stride.text() == "1") {
      box.at = {base.text()};
      std::vector<std::string> shape{length("length")};
      if (row_vectors_) {
        box.at.insert(box.at.begin(), "0");
        shape.insert(shape.begin(), "1");
      }
      box.tensor = tensor_of(name, tile.tile.element, shape, writes, reads);
      return box;
    }
    if (!stride.is_zero()) {
      scalars_.note(fmt::format("line {} takes every {}th element of '{}': it is taken as stored the other way round", each.line,
                                stride.text(), name));
      box.at = {of_base(Operator::Modulo, stride), of_base(Operator::Divide, stride)};
      box.tensor = tensor_of(name, tile.tile.element, {stride.text(), length("rows")}, writes, reads);
      return box;
    }
  }
  scalars_.note(fmt::format(
      "the addresses of line {} are no affine function of the place in the tile: which elements it touches is not modelled", each.line));
  std::vector<std::string> shape;
  for (const std::int64_t extent : shape_of(tile, false)) {
    shape.push_back(std::to_string(extent));
    box.at.emplace_back("0");
  }
  box.tensor = tensor_of(name, tile.tile.element, shape, writes, reads);
  return box;
}

/// The place where everything has its largest index.
Scope NativeBuilder::last_place(bool evaluation, const std::map<std::string, std::int64_t>& instead) const {
  const Kernel& kernel = native_.kernel;
  Scope scope;
  for (const Param& p : kernel.params) {
    const auto other = instead.find(p.name);
    scope[p.name] = other != instead.end() ? other->second : evaluation ? p.eval_value.value_or(p.value) : p.value;
  }
  Scope last = scope;
  for (const GridDim& dim : kernel.grid) {
    const auto size = dim.size.evaluate(scope);
    last[dim.name] = std::max<std::int64_t>(0, size ? *size - 1 : 0);
  }
  const auto trips = kernel.loop.trips.evaluate(last);
  last[kernel.loop.variable] = std::max<std::int64_t>(0, (trips ? *trips : 1) - 1);
  return last;
}

/// As many blocks along a dimension as fit one step of the next: with rows at block_y * keys + block_x * 128, keys / 128 along x.
void NativeBuilder::size_grid() {
  Kernel& kernel = native_.kernel;
  constexpr std::int64_t kMostBlocks = 1024;
  for (const bool evaluation : {false, true}) {
    Scope first = last_place(evaluation, {});
    for (const GridDim& dim : kernel.grid) first[dim.name] = 0;
    std::map<std::string, std::int64_t> counts;
    for (const auto* list : {&kernel.body, &kernel.epilogue})
      for (const TileOp& each : *list)
        for (const Expr& at : each.outputs.empty() ? each.at : std::vector<Expr>{}) {
          std::map<std::string, std::int64_t> steps;
          const auto here = at.evaluate(first);
          for (const GridDim& dim : kernel.grid) {
            Scope next = first;
            next[dim.name] = 1;
            const auto there = at.evaluate(next);
            if (here && there && *there > *here) steps[dim.name] = *there - *here;
          }
          for (const auto& [fine, small] : steps)
            for (const auto& [coarse, large] : steps)
              if (large > small && large % small == 0 && large / small <= kMostBlocks) counts[fine] = large / small;
        }
    for (const GridDim& dim : kernel.grid)
      for (Param& p : kernel.params)
        if (const auto it = counts.find(dim.name); it != counts.end() && dim.size.text() == p.name)
          (evaluation ? p.eval_value.emplace() : p.value) = it->second;
  }
}

/// How far apart rows lie is a number of the launch. As small as the columns that are touched: what no tile writes is then not there.
void NativeBuilder::size_pitches() {
  Kernel& kernel = native_.kernel;
  constexpr std::int64_t kWide = std::int64_t{1} << 24;
  std::map<std::string, std::int64_t> wide;
  const std::vector<std::string> counted = kernel.loop.trips.names();
  for (const Tensor& tensor : kernel.tensors)
    if (tensor.shape.size() == 2 && kernel.find_param(tensor.shape[1].text()) &&
        std::find(counted.begin(), counted.end(), tensor.shape[1].text()) == counted.end())
      wide[tensor.shape[1].text()] = kWide;
  for (const bool evaluation : {false, true}) {
    const Scope last = last_place(evaluation, wide);
    std::map<std::string, std::int64_t> needed;
    for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
      for (const TileOp& each : *list) {
        const Tensor* tensor = each.tensor.empty() ? nullptr : kernel.find_tensor(each.tensor);
        if (!tensor || tensor->shape.size() != 2 || each.at.size() != 2 || !wide.contains(tensor->shape[1].text())) continue;
        const std::string& tile = each.outputs.empty() ? each.inputs.at(0).value : each.outputs[0];
        const auto from = each.at[1].evaluate(last);
        std::int64_t& most = needed[tensor->shape[1].text()];
        most = std::max(most, from && *from < kWide / 2 ? sat_add(*from, shapes_[tile].extents.back()) : kWide);
      }
    for (Param& p : kernel.params)
      if (const auto it = needed.find(p.name); it != needed.end() && it->second >= 1 && it->second < kWide / 2)
        (evaluation ? p.eval_value.emplace() : p.value) = it->second;
  }
}

/// Extents that the text does not say are as large as what is touched, at the default sizes and at those of an evaluation.
void NativeBuilder::size_tensors() {
  Kernel& kernel = native_.kernel;
  size_grid();
  size_pitches();
  for (const bool evaluation : {false, true}) {
    const Scope last = last_place(evaluation, {});
    std::map<std::string, std::int64_t> needed;  ///< by parameter
    for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
      for (const TileOp& each : *list) {
        const Tensor* tensor = each.tensor.empty() ? nullptr : kernel.find_tensor(each.tensor);
        if (!tensor || tensor->shape.size() != each.at.size()) continue;
        const std::string& tile = each.outputs.empty() ? each.inputs.at(0).value : each.outputs[0];
        const std::vector<std::int64_t>& extents = shapes_[tile].extents;
        for (std::size_t d = 0; d < each.at.size(); ++d) {
          const auto from = each.at[d].evaluate(last);
          const std::size_t lead = each.at.size() - std::min(extents.size(), each.at.size());
          const std::int64_t extent = d < lead ? 1 : extents[d - lead];
          std::int64_t& most = needed[tensor->shape[d].text()];
          if (from) most = std::max(most, sat_add(*from, extent));
        }
      }
    for (const Param& p : std::vector<Param>(kernel.params)) {
      const auto it = needed.find(p.name);
      if (it == needed.end() || it->second < 1) continue;
      const bool mentioned = std::any_of(kernel.body.begin(), kernel.body.end(), [&](const TileOp& each) {
        return std::any_of(each.at.begin(), each.at.end(), [&](const Expr& e) {
          const std::vector<std::string> names = e.names();
          return std::find(names.begin(), names.end(), p.name) != names.end();
        });
      });
      const std::vector<std::string> trip_names = kernel.loop.trips.names();
      if (mentioned || std::find(trip_names.begin(), trip_names.end(), p.name) != trip_names.end()) continue;
      for (Param& own : kernel.params)
        if (own.name == p.name) (evaluation ? own.eval_value.emplace() : own.value) = it->second;
    }
  }
}

}  // namespace heddle::triton
