// The text is planned (core/triton/memory/plan.h), then its pieces are placed as Triton's allocators would (core/triton/memory/allocate.h).
#include "core/triton/memory/memory.h"

#include <algorithm>

#include "core/base/saturate.h"
#include "core/triton/memory/latencies.h"
#include "core/triton/memory/places.h"
#include "core/triton/memory/plan.h"
#include "core/triton/memory/specialization.h"

namespace heddle::triton {
namespace {

/// Tensor memory comes in powers of two of at least 32 columns; what is more than 512 is left as it is, and cannot be launched.
std::int64_t allocated_columns(std::int64_t needed) {
  if (needed <= 0 || needed > 512) return needed;
  std::int64_t columns = 32;
  while (columns < needed) columns *= 2;
  return columns;
}

/// The position at which most bytes are alive.
std::int64_t peak_of(const std::vector<MemoryPiece>& pieces) {
  std::int64_t best = -1, where = 0;
  for (const MemoryPiece& at : pieces) {
    std::int64_t bytes = 0;
    for (const MemoryPiece& piece : pieces)
      if (piece.life.begin <= at.life.begin && at.life.begin < piece.life.end) bytes = sat_add(bytes, piece.bytes);
    if (bytes > best) best = bytes, where = at.life.begin;
  }
  return where;
}

}  // namespace

const char* to_string(TritonBuffer::What what) {
  switch (what) {
    case TritonBuffer::What::Ring: return "ring";
    case TritonBuffer::What::Resident: return "resident";
    case TritonBuffer::What::Barriers: return "barriers";
    case TritonBuffer::What::Scratch: return "scratch";
    case TritonBuffer::What::Accumulator: return "accumulator";
    case TritonBuffer::What::Operand: return "operand";
  }
  return "";
}

TritonMemory memory_of(const TritonProgram& program) {
  const Places places(program);
  MemoryPlan plan = program.form == TextForm::Final ? plan_of_final(program, places) : plan_of_scheduled(program, places);
  const bool all_as_they_stand = std::ranges::all_of(
      program.loops, [&](const LoopSite& loop) { return program.module->op(loop.op).name != "scf.for" || left_alone(program, loop); });
  if (program.form == TextForm::Input && !all_as_they_stand)
    plan.doubt("Triton has not scheduled it yet: the rings of its loops are those that its rules give them");
  else if (std::ranges::any_of(program.loops, [&](const LoopSite& loop) {
             return program.form != TextForm::Partitioned && (loop.partitioned || will_specialize(program, loop));
           }))
    plan.doubt(
        "the loop is to be warp specialized: rings, barriers and warps are decided by tritongpu-automatic-warp-specialization; open the "
        "text "
        "before tritongpu-pipeline");
  const auto has = [&](std::string_view ending) {
    return std::ranges::any_of(program.module->ops, [&](const mlir::Op& op) { return op.name.ends_with(ending); });
  };
  if (program.form != TextForm::Final && program.target >= 100 && pads_conversions(program) && has(".tmem_load") && has("tt.reduce"))
    plan.doubt("this text seems to be of a Triton before 3.6, whose reads of tensor memory in front of reductions get other layouts");
  if (program.num_ctas > 1) plan.doubt("several CTAs share the tiles: counted as if each held all");
  TritonMemory memory;
  memory.warps = warps_of(program, places);
  if (const std::optional<std::int64_t> bytes = allocate(plan.shared)) {
    memory.shared_bytes = *bytes;
  } else {
    for (const MemoryPiece& piece : plan.shared) memory.shared_bytes = sat_add(memory.shared_bytes, piece.bytes);
    plan.doubt("there are too many allocations to place them as Triton does: their sum is given");
  }
  memory.tmem_needed = allocate(plan.tensor);
  memory.tmem_columns = allocated_columns(memory.tmem_needed);
  const std::int64_t peak = plan.shared.size() <= 1000 ? peak_of(plan.shared) : 0;
  for (const bool alive : {true, false})
    for (std::size_t i = 0; i < plan.shared.size(); ++i)
      if ((plan.shared[i].life.begin <= peak && peak < plan.shared[i].life.end) == alive) memory.buffers.push_back(plan.shared_buffers[i]);
  memory.buffers.insert(memory.buffers.end(), plan.tensor_buffers.begin(), plan.tensor_buffers.end());
  for (const std::string& doubt : plan.doubts) memory.unsure += (memory.unsure.empty() ? "" : "; ") + doubt;
  return memory;
}

}  // namespace heddle::triton
