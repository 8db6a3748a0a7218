// Texts in which every allocation stands are planned here, scheduled ones in plan_scheduled.cpp.
#include "core/triton/memory/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturate.h"
#include "core/triton/memory/partitions.h"
#include "core/triton/memory/scratch.h"
#include "core/triton/memory/specialization.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

using dump::TileType;
using mlir::Op;
using mlir::OpId;

}  // namespace

void MemoryPlan::add(TritonBuffer buffer, MemoryPiece piece) {
  shared.push_back(piece);
  shared_buffers.push_back(std::move(buffer));
}

void MemoryPlan::add(TensorAlloc alloc) {
  tensor.push_back(alloc.piece);
  tensor_buffers.push_back(std::move(alloc.buffer));
}

void MemoryPlan::doubt(std::string why) {
  if (std::ranges::find(doubts, why) == doubts.end() && doubts.size() < 8) doubts.push_back(std::move(why));
}

std::int64_t alignment_of(const Type& type, bool old_dialects) {
  if (old_dialects) return type.tile.bytes() > 256 ? 1024 : 8;
  if (type.layout.kind != TritonLayout::Kind::SharedNvmma) return 16;
  return 128 * std::clamp<std::int64_t>(type.layout.swizzle_bytes / 16, 1, 8);
}

std::string name_of(const TritonProgram& program, OpId id) {
  const Op& op = program.module->op(id);
  return op.results.empty() ? op.name : program.module->value(op.results.front()).name;
}

MemoryPiece piece_at(const Places& places, OpId op, std::int64_t bytes, std::int64_t alignment, Life life) {
  MemoryPiece piece;
  piece.bytes = bytes;
  piece.alignment = alignment;
  piece.life = life;
  piece.specialize = places.specialize(op);
  piece.region = places.region(op);
  return piece;
}

TensorAlloc tensor_alloc(const TritonProgram& program, const Places& places, OpId id, Life life, std::int64_t copies) {
  const Op& op = program.module->op(id);
  const Type& type = program.type(op.results.front());
  const TensorSize size = tensor_size(type);
  TritonBuffer buffer;
  buffer.op = id;
  buffer.name = name_of(program, id);
  buffer.what = TritonBuffer::What::Accumulator;
  buffer.slots = type.tile.shape.size() > 2 ? std::max<std::int64_t>(1, type.tile.shape.front()) : 1;
  buffer.columns = size.columns / buffer.slots;
  buffer.slots *= copies;
  buffer.why = fmt::format("{} in tensor memory", type.tile.text());
  TensorPiece piece;
  piece.columns = sat_mul(size.columns, copies);
  piece.rows = size.rows;
  piece.life = life;
  piece.specialize = places.specialize(id);
  piece.region = places.region(id);
  return {std::move(buffer), piece};
}

void add_scratch(MemoryPlan& plan, const TritonProgram& program, const Places& places, OpId id) {
  add_scratch(plan, program, places, id, scratch_of(program, program.module->op(id)));
}

void add_scratch(MemoryPlan& plan, const TritonProgram& program, const Places& places, OpId id, const Scratch& needed) {
  const Op& op = program.module->op(id);
  if (!needed.unsure.empty()) plan.doubt(needed.unsure);
  if (needed.bytes > 0 && op.name.ends_with(".convert_layout") && pads_conversions(program))
    plan.doubt("this text seems to be of a Triton before 3.6, whose conversions between layouts take a padded buffer that is not counted");
  if (needed.bytes <= 0) return;
  TritonBuffer buffer;
  buffer.op = id;
  buffer.name = name_of(program, id);
  buffer.what = TritonBuffer::What::Scratch;
  buffer.bytes = needed.bytes;
  buffer.why = fmt::format("warps exchange what {} needs", op.name);
  plan.add(std::move(buffer), piece_at(places, id, needed.bytes, 128, places.moment(id)));
}

void add_specialize(MemoryPlan& plan, const TritonProgram& program, const Places& places, OpId id) {
  const Op& op = program.module->op(id);
  std::int64_t bytes = 0;
  const std::vector<bool> kept = program.form == TextForm::Final ? std::vector<bool>(op.operands.size(), true) : kept_captures(program, id);
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (kept[i]) bytes = sat_add(bytes, capture_bytes(program.operand_type(op, i)));
  if (bytes <= 0) return;
  TritonBuffer buffer;
  buffer.op = id;
  buffer.name = op.name;
  buffer.what = TritonBuffer::What::Scratch;
  buffer.bytes = bytes;
  buffer.why = fmt::format("{} values are handed to the partitions", std::ranges::count(kept, true));
  plan.add(std::move(buffer), piece_at(places, id, bytes, 8, places.moment(id)));
}

/// A byte for every warp that does not run the default region: which of them does what.
void add_warp_states(MemoryPlan& plan, const TritonProgram& program, const Places& places) {
  const std::int64_t extra = warps_of(program, places) - program.num_warps;
  if (extra <= 0) return;
  TritonBuffer buffer;
  buffer.op = program.function;
  buffer.name = "warp states";
  buffer.what = TritonBuffer::What::Scratch;
  buffer.bytes = extra;
  buffer.why = fmt::format("a byte for each of the {} warps of the partitions", extra);
  MemoryPiece piece;
  piece.bytes = extra;
  piece.alignment = 4;
  piece.life = {0, std::numeric_limits<std::int64_t>::max()};
  plan.add(std::move(buffer), piece);
}

/// A left operand of 64 rows in tensor memory must lie in the same lanes as its mma's result.
void tie_rows(MemoryPlan& plan, const TritonProgram& program, const Places& places) {
  const mlir::Module& module = *program.module;
  int next = 0;
  for (const Op& op : module.ops) {
    if (op.name.find("tc_gen5_mma") == std::string::npos || op.operands.size() < 3) continue;
    const mlir::ValueId left = places.root(op.operands[0]), result = places.root(op.operands[2]);
    TensorPiece* a = nullptr;
    TensorPiece* d = nullptr;
    for (std::size_t i = 0; i < plan.tensor.size(); ++i) {
      const OpId made = plan.tensor_buffers[i].op;
      if (module.value(left).definer == made) a = &plan.tensor[i];
      if (module.value(result).definer == made) d = &plan.tensor[i];
    }
    if (!a || !d || a == d || a->rows != 64) continue;
    const int tied = a->tied >= 0 ? a->tied : d->tied >= 0 ? d->tied : next++;
    for (TensorPiece& piece : plan.tensor)
      if (piece.tied >= 0 && (piece.tied == a->tied || piece.tied == d->tied)) piece.tied = tied;
    a->tied = d->tied = tied;
  }
}

namespace {

struct FinalPlanner {
  const TritonProgram& program;
  const Places& places;
  MemoryPlan plan;

  const Type& result(const Op& op) const { return program.type(op.results.front()); }

  /// Whether slots of it are taken: else two dimensions are those of one tile.
  bool indexed(const Op& alloc) const {
    const auto& ops = program.module->ops;
    return std::any_of(ops.begin(), ops.end(), [&](const Op& op) {
      if (op.operands.empty() || op.operands.front() != alloc.results.front()) return false;
      const std::string name = present_name(op.name);
      return name == "ttg.memdesc_index" || name == "ttg.memdesc_subview";
    });
  }

  void shared_alloc(OpId id, const Op& op) {
    const Type& type = result(op);
    TritonBuffer buffer;
    buffer.op = id;
    buffer.name = name_of(program, id);
    // What is read slot by slot is a ring; its first extent counts the slots.
    bool ring = false;
    for (const mlir::ValueId name : places.names(op.results.front()))
      if (type.tile.shape.size() > 1 && program.type(name).tile.shape == type.tile.shape)
        ring |= std::ranges::any_of(places.readers(name), [&](OpId reader) {
          const std::string& reads = program.module->op(reader).name;
          return reads.ends_with(".memdesc_index") || reads.ends_with(".memdesc_subview");
        });
    buffer.slots = ring ? std::max<std::int64_t>(1, type.tile.shape.front()) : 1;
    buffer.bytes = type.tile.bytes() / buffer.slots;
    if (type.barrier) {
      buffer.what = TritonBuffer::What::Barriers;
      buffer.why = fmt::format("{} of 8 bytes", buffer.slots == 1 ? "a barrier" : fmt::format("{} barriers", buffer.slots));
    } else if (!op.operands.empty()) {
      buffer.what = TritonBuffer::What::Operand;
      buffer.why = "a tile stored for an mma or a copy to global memory";
    } else if (buffer.slots > 1) {
      buffer.what = TritonBuffer::What::Ring;
      buffer.why = fmt::format("{} slots of {} bytes", buffer.slots, buffer.bytes);
    } else {
      buffer.what = TritonBuffer::What::Resident;
      buffer.why = "one tile";
    }
    const bool old_dialects = op.name.starts_with("triton_gpu.");
    plan.add(std::move(buffer), piece_at(places, id, type.tile.bytes(), op.integer("alignment", alignment_of(type, old_dialects)),
                                         places.life(id, op.results.front())));
  }
};

}  // namespace

MemoryPlan plan_of_final(const TritonProgram& program, const Places& places) {
  FinalPlanner planner{program, places, {}};
  const mlir::Module& module = *program.module;
  // The order counts: explicit allocations first, then scratch, both in the order of the text; equal sizes are placed in that order.
  for (std::size_t i = 0; i < module.ops.size(); ++i) {
    const Op& op = module.ops[i];
    const std::string name = present_name(op.name);
    if (op.results.empty()) continue;
    const Type& type = program.type(op.results.front());
    if (name == "ttg.local_alloc" && type.tile.space == TileType::Space::Smem) planner.shared_alloc(OpId(i), op);
    if (name == "ttng.tmem_alloc") planner.plan.add(tensor_alloc(program, places, OpId(i), places.life(OpId(i), op.results.front()), 1));
    if (planner.plan.shared.size() > 1000 || planner.plan.tensor.size() > 1000) break;
  }
  add_warp_states(planner.plan, program, places);
  for (std::size_t i = 0; i < module.ops.size() && planner.plan.shared.size() <= 1000; ++i) {
    const Op& op = module.ops[i];
    if (op.name.starts_with("ttg.warp_specialize"))
      add_specialize(planner.plan, program, places, OpId(i));
    else
      add_scratch(planner.plan, program, places, OpId(i));
  }
  tie_rows(planner.plan, program, places);
  return std::move(planner.plan);
}

std::int64_t warps_of(const TritonProgram& program, const Places& places) {
  std::int64_t most = 0;
  if (program.form == TextForm::Partitioned) {
    std::int64_t warps = 0;
    for (const std::int64_t each : partitions_of(program, places).warps) warps = sat_add(warps, each);
    most = sat_mul((sat_add(warps, 3)) / 4, 4);
  }
  for (std::size_t i = 0; i < program.module->ops.size(); ++i) {
    const Op& op = program.module->ops[i];
    if (!op.name.starts_with("ttg.warp_specialize")) continue;
    std::int64_t warps = 0;
    if (program.form == TextForm::Final)
      for (const mlir::RegionId region : op.regions)
        warps = sat_add(warps, std::max<std::int64_t>(0, program.module->region(region).warps));
    else
      for (const std::int64_t each : partition_warps(program, OpId(i))) warps = sat_add(warps, each);
    // Partitions come in groups of four warps: idle ones fill the last.
    most = std::max(most, sat_mul((sat_add(warps, 3)) / 4, 4));
  }
  return sat_add(program.num_warps, most);
}

}  // namespace heddle::triton
