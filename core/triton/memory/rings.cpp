// Rings of the loads of one loop: by the pipeliner's rules where the text has only a schedule, as allocated where it has copies.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "core/triton/memory/memory.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/memory/places.h"
#include "core/triton/memory/plan.h"
#include "core/triton/memory/specialization.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

using mlir::Op;
using mlir::OpId;
using mlir::ValueId;

bool copies_to_shared(std::string_view name) {
  return name.ends_with(".async_copy_global_to_local") || name.ends_with(".async_tma_copy_global_to_local") ||
         name.ends_with(".async_tma_gather") || name.ends_with(".async_tma_gather_global_to_local");
}

bool inside(const mlir::Module& module, OpId op, OpId loop) {
  for (OpId around = module.around(op); around.valid(); around = module.around(around)) {
    if (around == loop) return true;
    // Of the loop itself, not of loops in it.
    if (module.op(around).name == "scf.for" || module.op(around).name == "scf.while") return false;
  }
  return false;
}

/// Of a text with explicit copies: the allocation that each fills.
std::vector<TritonBuffer> written_rings(const TritonProgram& program, const Places& places, const LoopSite& loop) {
  const mlir::Module& module = *program.module;
  std::vector<TritonBuffer> rings;
  for (std::size_t i = 0; i < module.ops.size() && rings.size() < 512; ++i) {
    const Op& op = module.ops[i];
    const OpId id(i);
    if (op.name == "tt.load" && !op.results.empty() && program.type(op.results.front()).tile.tile() && inside(module, id, loop.op)) {
      TritonBuffer none;
      none.op = id;
      none.name = name_of(program, id);
      none.slots = 0;
      none.bytes = program.type(op.results.front()).tile.bytes();
      none.synchronous = true;
      none.why = "loaded into registers and waited for";
      rings.push_back(std::move(none));
    }
    if (!copies_to_shared(op.name) || !inside(module, id, loop.op)) continue;
    for (const ValueId operand : op.operands) {
      const Type& type = program.type(operand);
      if (type.tile.space != dump::TileType::Space::Smem || type.barrier) continue;
      const ValueId root = places.root(operand);
      const OpId made = module.value(root).definer;
      if (!made.valid() || std::ranges::any_of(rings, [&](const TritonBuffer& ring) { return ring.op == made; })) continue;
      const Type& whole = program.type(root);
      TritonBuffer ring;
      ring.op = made;
      ring.name = module.value(root).name;
      ring.slots = whole.tile.shape.size() > type.tile.shape.size() ? std::max<std::int64_t>(1, whole.tile.shape.front()) : 1;
      ring.bytes = whole.tile.bytes() / ring.slots;
      ring.synchronous = inside(module, made, loop.op);
      ring.why = ring.synchronous ? "one tile, filled and read in the same iteration"
                                  : fmt::format("{} of {}", count_of(ring.slots, "slot"), type.tile.text());
      rings.push_back(std::move(ring));
    }
  }
  return rings;
}

}  // namespace

std::vector<TritonBuffer> rings_of(const TritonProgram& program, const LoopSite& loop) {
  const Places places(program);
  if (program.form == TextForm::Final) return written_rings(program, places, loop);
  const LoopPlan plan = plan_of_loop(program, places, loop.op);
  const std::vector<PartitionHandOff> specialized = specialized_loads(program, places, loop);
  // A specialized text has the rings between partitions, and loads that its pipeliner will still put ahead.
  std::vector<TritonBuffer> rings;
  if (program.form == TextForm::Specialized)
    for (TritonBuffer& ring : written_rings(program, places, loop))
      if (program.module->op(ring.op).name != "tt.load") rings.push_back(std::move(ring));
  for (const LoadPlan& load : plan.loads) {
    if (!program.type(program.module->op(load.op).results.front()).tile.tile() && load.slots == 0) continue;
    TritonBuffer ring;
    ring.op = load.op;
    ring.name = name_of(program, load.op);
    ring.bytes = load.bytes;
    ring.slots = load.slots;
    ring.why = load.why;
    if (const auto given = std::ranges::find_if(specialized, [&](const PartitionHandOff& each) { return each.op == load.op; });
        given != specialized.end()) {
      ring.slots = given->slots;
      ring.why = given->why;
    } else if (load.slots == 0) {
      ring.slots = load.descriptor ? 1 : 0;
      ring.synchronous = load.stage < 0 || load.use_stage <= load.stage;
    }
    rings.push_back(std::move(ring));
  }
  return rings;
}

}  // namespace heddle::triton
