#include "core/triton/kernel/native.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/scanner.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/validate.h"
#include "core/triton/kernel/kernel_draft.h"
#include "core/triton/kernel/loop_body.h"
#include "core/triton/kernel/outside.h"
#include "core/triton/kernel/row_cut.h"
#include "core/triton/kernel/tensor_sizes.h"
#include "core/triton/memory/latencies.h"
#include "core/triton/memory/memory.h"

namespace heddle::triton {
namespace {

constexpr int kHopperGroups = 3, kBlackwellGroups = 5;

bool moves_memory(const std::string& kind) {
  return kind == "tma_load" || kind == "tma_store" || kind == "load" || kind == "store" || kind == "gather" || kind == "atomic_add";
}

/// The place "/list/index/..." of a kernel.
struct ListPlace {
  std::string_view list;
  std::size_t index = 0;
};

std::optional<ListPlace> place_of(std::string_view pointer) {
  if (!pointer.starts_with('/')) return std::nullopt;
  pointer.remove_prefix(1);
  ListPlace place;
  const std::size_t end = std::min(pointer.find('/'), pointer.size());
  place.list = pointer.substr(0, end);
  if (end < pointer.size()) place.index = number_in_front<std::size_t>(pointer.substr(end + 1));
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

/// What is known before any op is made.
void begin_kernel(LoopKernelDraft& draft) {
  const LoopText& text = draft.text;
  Kernel& kernel = draft.native.kernel;
  kernel.name = kernel_name(text.program.kernel);
  draft.native.ops = text.loop.ops;
  draft.native.tile_ops = text.graph.nodes.size();
  draft.native.edges = text.graph.edges.size();
  draft.native.fused = text.graph.fused.size();
  kernel.source = text.program.file;
  kernel.loop.variable = Scalars::kLoopVariable;
  const Trips trips = draft.scalars.trips();
  kernel.loop.trips = trips.most;
  if (trips.of_tile.text() != trips.most.text()) kernel.loop.tile_trips = trips.of_tile;
}

/// What is known once all ops are made.
void finish_kernel(LoopKernelDraft& draft) {
  const LoopText& text = draft.text;
  Native& native = draft.native;
  const bool blackwell = text.program.target >= 100, free = text.reading == TextReading::Free;
  native.kernel.producer = free;
  native.kernel.max_groups = blackwell ? kBlackwellGroups : free ? kHopperGroups : 1;
  if (native.cut.factor > 1) native.kernel.max_groups = std::max(native.kernel.max_groups, static_cast<int>(native.cut.factor) + 1);
  native.kernel.about = fmt::format(
      "Loop {} (line {}) of the Triton kernel {} for sm_{}, {} warps, {} reading: {} ops, {} of tiles, {} edges; {} after fusing.",
      text.loop.number, text.loop.line, text.program.kernel, text.program.target, text.program.num_warps, to_string(text.reading),
      native.ops, native.tile_ops, native.edges, native.fused);
  native.notes = draft.scalars.notes();
  native.left_alone = left_alone(text.program, text.loop);
  native.has_own = text.reading == TextReading::Triton && (text.loop.scheduled || native.left_alone);
  if (!text.loop.scheduled && !native.left_alone)
    native.why_no_own = "the text stands before Triton has scheduled the loop (tritongpu-schedule-loops)";
  if (native.left_alone)
    for (Origin& origin : native.origins) origin.stage = origin.cluster = 0;
  for (const Origin& origin : native.origins)
    if (native.has_own && !origin.stage) {
      native.has_own = false;
      native.why_no_own = fmt::format("op '{}' (line {}) has no stage", origin.op, origin.text_line);
    }
}

/// Without mmas nothing binds a group to four warps.
void set_free_warps(Kernel& kernel, const TritonProgram& program) {
  const bool products = std::any_of(kernel.body.begin(), kernel.body.end(), [](const TileOp& each) { return each.kind == "mma"; });
  for (TileOp& each : kernel.body)
    if (!products && program.num_warps > 4 && !moves_memory(each.kind)) each.cost.emplace().warps = Expr(program.num_warps);
}

/// What Triton's lowering makes of ops.
void set_costs(Kernel& kernel, const TritonProgram& program) {
  const bool hopper = program.target < 100;
  for (TileOp& each : kernel.body) {
    const bool alone = each.kind == "mma" || moves_memory(each.kind);
    CostOverride cost = each.cost.value_or(CostOverride{});
    // One stream of all warps; on Blackwell single threads issue mmas and copies.
    if (hopper || !alone) cost.warps = Expr(program.num_warps);
    // On Hopper an mma whose result is read in its own iteration is waited for at once.
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

/// How many slots Triton gives to what mmas leave in tensor memory, and to what they read there.
void add_tensor_rings(LoopKernelDraft& draft) {
  const LoopText& text = draft.text;
  const TritonMemory memory = memory_of(text.program);
  for (const TileNode& node : text.graph.nodes) {
    const mlir::Op& each = text.op(node.op);
    const auto role = work_of(text.program, each);
    const auto value = draft.in_memory.find(node.op);
    if (value == draft.in_memory.end() || (role != OpRole::TensorProduct && role != OpRole::TensorAlloc)) continue;
    const mlir::ValueId root = role == OpRole::TensorProduct ? text.flow.storage(each.operands[2]) : each.results[0];
    const std::string& name = text.program.module->value(root).name;
    for (const TritonBuffer& buffer : memory.buffers)
      if (buffer.columns > 0 && buffer.name == name)
        draft.native.rings.push_back({value->second, 0, static_cast<int>(std::clamp<std::int64_t>(buffer.slots, 1, 64))});
  }
}

}  // namespace

Error said_of_text(Error error, const TritonProgram& program, const Native& native, const Kernel& kernel, const std::string& hint) {
  for (Fault& fault : error.faults) {
    const std::optional<ListPlace> place = place_of(fault.pointer);
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

Error unresolved_text(Error error, const TritonProgram& program, const Native& native, const Kernel& kernel) {
  std::string names;
  for (const Param& param : kernel.params) names += (names.empty() ? "" : ", ") + param.name;
  const std::string hint = names.empty() ? "" : "NAME=VALUE says what the text does not: " + names;
  Error said = said_of_text(std::move(error), program, native, kernel, hint);
  for (Fault& fault : said.faults)
    if (!hint.empty() && fault.hint == hint) fault.part = "sizes of a text";
  return said;
}

Kernel kernel_of(const Native& native) {
  if (native.cut.factor > 1)
    if (Result<Kernel> cut = subtile(native.kernel, native.cut)) return *std::move(cut);
  return native.kernel;
}

Result<Native> to_native(const TritonProgram& program, const LoopSite& loop, TextReading reading) {
  Result<TileGraph> graph = loop_graph(program, loop);
  if (!graph) return graph.error();
  const LoopText text(program, loop, reading, *std::move(graph));
  LoopKernelDraft draft(text);
  Kernel& kernel = draft.native.kernel;
  begin_kernel(draft);
  add_body(draft);
  if (!draft.error.faults.empty()) return draft.error;
  if (loop.depth > 0) draft.scalars.note("a loop around this one is not modelled: each block runs its first turn");
  add_epilogue(draft);
  if (!draft.error.faults.empty()) return draft.error;
  if (reading == TextReading::Triton) {
    set_costs(kernel, program);
    add_tensor_rings(draft);
  } else {
    draft.native.cut = name_dimensions(draft);
    set_free_warps(kernel, program);
  }
  kernel.params = draft.scalars.params();
  kernel.grid = draft.scalars.grid();
  if (kernel.grid.empty()) kernel.grid.push_back({"block_x", Expr(1)});
  std::sort(kernel.grid.begin(), kernel.grid.end(), [](const GridDim& a, const GridDim& b) { return a.name < b.name; });
  size_tensors(kernel, draft.extents);
  finish_kernel(draft);
  Error error{ErrorKind::Input, validate(kernel)};
  if (!error.faults.empty())
    return said_of_text(std::move(error), program, draft.native, kernel,
                        "Heddle knows no such addresses yet; heddle audit reads the text without them");
  return std::move(draft.native);
}

}  // namespace heddle::triton
