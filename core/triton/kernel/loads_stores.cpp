#include "core/triton/kernel/loads_stores.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/triton/kernel/boxes.h"

namespace heddle::triton {
namespace {

/// Stages that are asked for to see which loads could run ahead at all.
constexpr std::int64_t kManyStages = 8;

/// Where the tile of a load is read, and when for the first time.
struct LoadedTile {
  bool memory = false, registers = false;
  std::optional<std::int64_t> stage, cluster;  ///< of the first reader; nothing: they have none
  const mlir::Op* fill = nullptr;              ///< the allocation that it fills
};

LoadedTile loaded_tile(const LoopText& text, const LoadUses& uses, mlir::OpId load) {
  LoadedTile tile;
  if (const auto readers = uses.readers.find(load); readers != uses.readers.end())
    for (const auto& [id, operand] : readers->second) {
      const mlir::Op& reader = text.op(id);
      const auto role = work_of(text.program, reader);
      const bool filled = role == OpRole::SharedAlloc && !is_tile_op(text.program, text.flow, reader);
      if (filled) tile.fill = &reader;
      const bool view = role == OpRole::View || filled;
      if (!view) (is_memory(text.program.type(operand)) ? tile.memory : tile.registers) = true;
      const mlir::Op& staged = text.flow.in_turn(reader);
      if (!staged.find("loop.stage") || (view && !filled)) continue;
      const std::int64_t stage = staged.integer("loop.stage", 0);
      if (tile.stage && stage >= *tile.stage) continue;
      tile.stage = stage;
      tile.cluster = staged.integer("loop.cluster", 0);
    }
  if (!tile.memory && !tile.registers) tile.registers = true;
  return tile;
}

}  // namespace

LoadUses load_uses(const LoopText& text) {
  LoadUses uses;
  uses.scheduled = text.reading == TextReading::Triton && (text.loop.scheduled || left_alone(text.program, text.loop));
  if (text.reading == TextReading::Triton)
    for (const TritonBuffer& ring : rings_of(text.program, text.loop)) uses.rings.emplace(ring.name, ring);
  for (const LoadLatency& load : load_latencies(text.program, text.loop, kManyStages, text.loop.products == 0))
    uses.latencies[load.op] = load;
  for (const mlir::OpId id : text.flow.ops())
    for (const mlir::ValueId operand : text.op(id).operands) {
      const mlir::OpId from = text.flow.source(operand).op;
      if (const auto node = from.valid() ? text.node_of(from) : std::nullopt; node && text.graph.nodes[*node].kind.ends_with("load"))
        uses.readers[from].emplace_back(id, operand);
    }
  return uses;
}

void note_padding(LoopKernelDraft& draft, const mlir::Op& load) {
  // tt.load pointers, mask, other.
  if (load.operands.size() > 1) draft.scalars.note("masks of loads and stores are taken as the bounds of their tensors");
  if (load.operands.size() < 3) return;
  const auto other = draft.scalars.number(load.operands[2]);
  if (other && *other != "0" && *other != "-0")
    draft.scalars.note(fmt::format("line {} takes {} outside of the tensor; here it reads as zero", load.line, *other));
}

void add_load(LoopKernelDraft& draft, const LoadUses& uses, std::size_t n) {
  const LoopText& text = draft.text;
  const mlir::Op& load = text.op(n);
  const TileNode& node = text.graph.nodes[n];
  const bool tma = work_of(text.program, load) == OpRole::DescriptorLoad;
  const LoadedTile read = loaded_tile(text, uses, node.op);
  const Type& type = text.result(load);
  TensorBox box = box_of(draft, load, type);
  if (!tma) note_padding(draft, load);
  // Held the other way round only where mmas alone read it.
  if (box.transposed && read.registers) {
    draft.scalars.note(
        fmt::format("line {} loads a tile whose columns are contiguous: which elements it reads is not modelled", load.line));
    box.transposed = false;
    box.at.assign(box.at.size(), "0");
  }
  const auto ring = uses.rings.find(text.program.module->value(load.results[0]).name);
  const bool ahead = node.stage && read.stage && *node.stage < *read.stage;
  // What cp.async cannot copy comes into registers, ahead or not.
  const auto latency = uses.latencies.find(node.op);
  const bool copied = tma || (latency != uses.latencies.end() && (latency->second.why == LeftAlone::No || ahead));
  const bool into_registers = !tma && (text.reading == TextReading::Free   ? !read.memory
                                       : ahead && ring != uses.rings.end() ? ring->second.synchronous
                                                                           : !copied);
  const auto later = [&](TileOp&) {
    if (read.stage) draft.native.origins.back().stage = read.stage;
    if (read.cluster) draft.native.origins.back().cluster = read.cluster;
    if (read.fill) draft.native.origins.back().text_line = read.fill->line;
  };
  if (into_registers) {
    const std::string tile = draft.in_registers[node.op] = draft.add_value(node.name, type, Space::Register, box.transposed);
    TileOp& made = draft.add_op({KernelPart::Body, load}, tile, "load", {}, {tile});
    box.put(made);
    if (read.memory) {
      const std::string stored = draft.in_memory[node.op] = draft.add_value(node.name + "_smem", type, Space::Smem, box.transposed);
      later(draft.add_op({KernelPart::Body, load}, stored, "smem_store", {{tile, 0}}, {stored}));
    }
    return;
  }
  const std::string tile = draft.in_memory[node.op] = draft.add_value(node.name, type, Space::Smem, box.transposed);
  TileOp& made = draft.add_op({KernelPart::Body, load}, tile, tma ? "tma_load" : "load", {}, {tile});
  box.put(made);
  if (!tma) made.attrs["variant"] = std::string("async");
  draft.native.origins.back().waits = uses.scheduled && !ahead;
  if (copied && latency != uses.latencies.end()) draft.native.origins.back().level = latency->second.level;
  if (ring != uses.rings.end())
    draft.native.rings.push_back({tile, ring->second.bytes, static_cast<int>(std::clamp<std::int64_t>(ring->second.slots, 1, 64))});
  if (read.registers) {
    const std::string moved = draft.in_registers[node.op] = draft.add_value(node.name + "_read", type, Space::Register);
    later(draft.add_op({KernelPart::Body, load}, moved, "smem_load", {{tile, 0}}, {moved}));
  }
}

void add_index_work(LoopKernelDraft& draft, std::size_t n, const std::string& name) {
  const LoopText& text = draft.text;
  const mlir::Op& load = text.op(n);
  if (text.reading != TextReading::Triton || work_of(text.program, load) != OpRole::PointerLoad) return;
  std::set<mlir::OpId> seen;
  std::vector<mlir::ValueId> open(load.operands.begin(), load.operands.end());
  std::int64_t instructions = 0;
  while (!open.empty() && seen.size() < 4096) {
    const ValueSource from = text.flow.carried(open.back());
    open.pop_back();
    if (!from.op.valid() || !seen.insert(from.op).second) continue;
    const mlir::Op& each = text.op(from.op);
    if (is_tile_op(text.program, text.flow, each)) continue;
    open.insert(open.end(), each.operands.begin(), each.operands.end());
    if (work_of(text.program, each) == OpRole::Index && !text.result(each).tile.shape.empty()) {
      // A bound on one dimension is computed once for each element of that dimension.
      const std::int64_t share =
          std::max<std::int64_t>(1, text.result(load).tile.elements() / std::max<std::int64_t>(1, text.result(each).tile.elements()));
      instructions += (text.result(each).pointer ? 2 : 1) * text.result(load).tile.bytes() / 16 / share;
    }
  }
  if (instructions == 0) return;
  TileOp& work = draft.add_op({KernelPart::Body, load}, "index_" + text.graph.nodes[n].name, "opaque", {}, {});
  CostOverride& cost = work.cost.emplace();
  constexpr std::int64_t kLanes = 64,
                         kPipeline = 6;  // integer lanes of an SM, and cycles until a dependent instruction: as in the machine files
  const std::int64_t cycles = (instructions + kLanes - 1) / kLanes;
  cost.uses.emplace().push_back({"ALU", Expr(0), Expr(cycles), Expr(1), Expr(0)});
  cost.latency = Expr(cycles + kPipeline);
  cost.window = Expr(cycles);
  draft.native.kernel.order.push_back({work.name, name, std::nullopt, 0, std::nullopt});
}

void note_scalar_store(LoopKernelDraft& draft, const mlir::Op& store) {
  const LoopText& text = draft.text;
  if ((store.name == "tt.store" || store.name == "tt.atomic_rmw") && work_of(text.program, store) == OpRole::Index)
    draft.scalars.note(fmt::format("line {} stores a single number ({}), which is not part of the kernel here", store.line, store.name));
}

void order_memory(LoopKernelDraft& draft) {
  const std::vector<TileOp>& body = draft.native.kernel.body;
  const auto after = [&](const TileOp& first, const TileOp& second, int distance, std::optional<Expr> latency = std::nullopt) {
    draft.native.kernel.order.push_back({first.name, second.name, std::move(latency), distance, std::nullopt});
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
      draft.scalars.note(fmt::format("'{}' is loaded and stored in the loop: loads and stores of it keep their order", body[store].tensor));
    }
  }
}

void order_addresses(LoopKernelDraft& draft) {
  const LoopText& text = draft.text;
  const std::vector<TileOp>& body = draft.native.kernel.body;
  const auto maker = [&](mlir::OpId id) -> const TileOp* {
    const auto in = draft.in_registers.find(id);
    if (in == draft.in_registers.end()) return nullptr;
    const auto made = std::ranges::find_if(body, [&](const TileOp& op) { return !op.outputs.empty() && op.outputs[0] == in->second; });
    return made == body.end() ? nullptr : &*made;
  };
  for (const GraphEdge& edge : text.graph.edges) {
    const mlir::OpId from = text.graph.nodes[edge.from].op, to = text.graph.nodes[edge.to].op;
    const auto role = work_of(text.program, text.op(to));
    const bool addresses = role == OpRole::PointerLoad || role == OpRole::PointerStore || role == OpRole::Atomic || role == OpRole::Gather;
    const TileOp* number = addresses ? maker(from) : nullptr;
    if (!number) continue;
    for (std::size_t k = 0; k < body.size(); ++k) {
      const bool made_of = !draft.native.origins[k].of.empty() && draft.native.origins[k].of.front() == to;
      if (!made_of || (body[k].tensor.empty() && body[k].kind != "opaque")) continue;
      const bool reads = std::ranges::any_of(body[k].inputs, [&](const Operand& in) { return in.value == number->outputs[0]; });
      if (!reads) draft.native.kernel.order.push_back({number->name, body[k].name, std::nullopt, edge.distance, std::nullopt});
    }
  }
}

void add_store(LoopKernelDraft& draft, const OpSite& site, const std::string& name, const Operand& value) {
  const LoopText& text = draft.text;
  const mlir::Op& store = site.from;
  const auto role = work_of(text.program, store);
  const mlir::ValueId stored = text.flow.stored(store);
  const Type& type = text.program.type(stored);
  const bool tma = role == OpRole::DescriptorStore || role == OpRole::DescriptorReduce;
  TensorBox box = box_of(draft, store, type);
  if (box.transposed) {
    draft.scalars.note(fmt::format("line {} stores columns that are contiguous: which elements it writes is not modelled", store.line));
    box.at.assign(box.at.size(), "0");
  }
  Operand from = value;
  const Space space = draft.native.kernel.find_value(value.value)->space;
  if (tma && space == Space::Register) {
    const std::string staged = draft.add_value(value.value + "_out", type, Space::Smem);
    draft.add_op(site, name + "_stage", "smem_store", {from}, {staged});
    from = {staged, 0};
  }
  const bool adds = role == OpRole::DescriptorReduce || role == OpRole::Atomic;
  if (adds && store.words.find("add") == std::string::npos)
    return draft.refuse(store, fmt::format("{}: only additions have a kind here", store.name));
  TileOp& made = draft.add_op(site, name, adds ? "atomic_add" : tma ? "tma_store" : "store", {from}, {});
  box.put(made);
}

}  // namespace heddle::triton
