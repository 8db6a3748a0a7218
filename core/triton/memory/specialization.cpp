// Rules of Triton's OptimizePartitionWarps and of what its canonicalizer leaves of captures (2026), restated.
#include "core/triton/memory/specialization.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturate.h"
#include "core/triton/memory/partitions.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/read/linear.h"

namespace heddle::triton {
namespace {

using dump::TileType;
using mlir::Op;
using mlir::OpId;
using mlir::ValueId;

constexpr std::int64_t kRegisters = 65536;  ///< of an SM

/// Ops that can go when nobody needs their results.
bool pure(const Op& op) {
  const std::string_view name = op.name;
  if (name.starts_with("arith.") || name.starts_with("math.") || name.starts_with("ub.") || is_view(name)) return true;
  for (const char* each :
       {"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.make_range", "tt.addptr", "tt.reduce", "tt.trans", "tt.reshape",
        "tt.get_program_id", "tt.get_num_programs", "ttg.convert_layout", "scf.for", "scf.if", "scf.yield"})
    if (name == each) return true;
  return false;
}

/// Values that something with an effect needs, in all regions of an op.
class Needed {
 public:
  Needed(const TritonProgram& program, OpId around) : module_(*program.module), needed_(program.module->values.size(), false) {
    collect(around);
    // What is needed needs what it is made from; loops hand needs around, so a few passes back.
    for (bool changed = true; changed;) {
      changed = false;
      for (auto op = inside_.rbegin(); op != inside_.rend(); ++op) changed |= pass(*op);
    }
  }
  bool has(ValueId value) const { return needed_[value.index()]; }

 private:
  void collect(OpId around) {
    for (const mlir::RegionId region : module_.op(around).regions)
      for (const mlir::BlockId block : module_.region(region).blocks)
        for (const OpId id : module_.block(block).ops) {
          inside_.push_back(id);
          collect(id);
        }
  }
  bool mark(ValueId value) {
    if (needed_[value.index()]) return false;
    needed_[value.index()] = true;
    return true;
  }
  bool effect(OpId id) const {
    const Op& op = module_.op(id);
    if (op.regions.empty()) return !pure(op);
    for (const mlir::RegionId region : op.regions)
      for (const mlir::BlockId block : module_.region(region).blocks)
        if (std::ranges::any_of(module_.block(block).ops, [&](OpId inner) { return effect(inner); })) return op.name != "tt.reduce";
    return false;
  }
  bool pass(OpId id) {
    const Op& op = module_.op(id);
    const bool wanted = std::ranges::any_of(op.results, [&](ValueId result) { return has(result); });
    bool changed = false;
    if (op.name == "scf.for") {
      const mlir::Block* body = module_.body(id);
      if (!wanted && !effect(id)) return false;
      for (std::size_t k = 0; k < 3 && k < op.operands.size(); ++k) changed |= mark(op.operands[k]);
      for (std::size_t k = 0; body && k + 3 < op.operands.size(); ++k) {
        const bool carried =
            (k < op.results.size() && has(op.results[k])) || (k + 1 < body->arguments.size() && has(body->arguments[k + 1]));
        if (!carried) continue;
        changed |= mark(op.operands[k + 3]);
        if (k + 1 < body->arguments.size()) changed |= mark(body->arguments[k + 1]);
        if (!body->ops.empty())
          if (const Op& yield = module_.op(body->ops.back()); yield.name == "scf.yield" && k < yield.operands.size())
            changed |= mark(yield.operands[k]);
      }
      return changed;
    }
    if (op.name == "scf.yield") {
      const OpId around = module_.around(id);
      if (!around.valid() || module_.op(around).name == "scf.for") return false;
      for (std::size_t k = 0; k < op.operands.size(); ++k)
        if (k >= module_.op(around).results.size() || has(module_.op(around).results[k])) changed |= mark(op.operands[k]);
      return changed;
    }
    if (!wanted && !effect(id)) return false;
    for (const ValueId operand : op.operands) changed |= mark(operand);
    return changed;
  }

  const mlir::Module& module_;
  std::vector<bool> needed_;
  std::vector<OpId> inside_;
};

bool in_region(const mlir::Module& module, OpId op, mlir::RegionId region) {
  for (mlir::BlockId block = module.op(op).parent; block.valid();) {
    if (module.block(block).parent == region) return true;
    const OpId around = module.region(module.block(block).parent).parent;
    if (!around.valid()) return false;
    block = module.op(around).parent;
  }
  return false;
}

}  // namespace

std::vector<bool> kept_captures(const TritonProgram& program, OpId specialize) {
  const mlir::Module& module = *program.module;
  const Op& op = module.op(specialize);
  std::vector<bool> kept(op.operands.size(), false);
  const Needed needed(program, specialize);
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const OpId made = module.value(op.operands[i]).definer;
    if (made.valid() && (module.op(made).name == "arith.constant" || module.op(made).name == "ub.poison")) continue;
    if (std::find(op.operands.begin(), op.operands.begin() + static_cast<std::ptrdiff_t>(i), op.operands[i]) !=
        op.operands.begin() + static_cast<std::ptrdiff_t>(i))
      continue;  // the same value once more
    for (const mlir::RegionId region : op.regions)
      for (const mlir::BlockId block : module.region(region).blocks)
        if (i < module.block(block).arguments.size() && needed.has(module.block(block).arguments[i])) kept[i] = true;
  }
  return kept;
}

std::int64_t least_warps(const Op& op) {
  if (op.name.find("async_tma_copy_global_to_local") != std::string::npos || op.name.find("async_tma_gather") != std::string::npos ||
      is_descriptor_load(op.name))
    return 2;
  if (op.name.ends_with(".tmem_load") || op.name.ends_with(".tmem_store") || (op.name.ends_with(".tmem_alloc") && !op.operands.empty()))
    return kTensorWarps;
  return 0;
}

void PartitionNeed::add(const TritonProgram& program, const Op& op) {
  if (const std::int64_t its = least_warps(op); its > 0) least = its;
  // Loads by descriptor and their allocations become copies, which hold no tile in registers.
  if (is_descriptor_load(op.name) || op.name.ends_with(".local_alloc")) return;
  const auto count = [&](ValueId value) {
    const Type& type = program.type(value);
    if (type.tile.space != TileType::Space::Register) return;
    const std::int64_t bits = type.pointer ? 64 : type.tile.bits;
    registers = std::max(registers, sat_mul(sat_mul(elements_per_thread(type, warps), sat_mul(warps, 32)), bits) / 32);
  };
  for (const ValueId value : op.operands) count(value);
  for (const ValueId value : op.results) count(value);
}

std::vector<std::int64_t> shrunk_warps(const TritonProgram& program, std::vector<PartitionNeed> needs) {
  for (bool changed = true; changed;) {
    changed = false;
    std::int64_t total = program.num_warps;
    for (const PartitionNeed& need : needs) total = sat_add(total, need.warps);
    for (PartitionNeed& need : needs) {
      if (need.warps <= need.least || need.warps <= 1) continue;
      const std::int64_t half = need.warps / 2;
      // The largest tile is taken to be half of what a group of warps needs.
      if (sat_mul(need.registers, 2) / 32 / half > kRegisters / 32 / std::max<std::int64_t>(1, total - half)) continue;
      need.warps = half;
      changed = true;
      break;
    }
  }
  std::vector<std::int64_t> out;
  for (const PartitionNeed& need : needs) out.push_back(need.warps);
  return out;
}

std::vector<std::int64_t> partition_warps(const TritonProgram& program, OpId specialize) {
  const mlir::Module& module = *program.module;
  const Op& op = module.op(specialize);
  std::vector<PartitionNeed> needs;
  for (const mlir::RegionId id : op.regions) {
    if (module.region(id).warps <= 0) continue;
    PartitionNeed need{module.region(id).warps, 1, 0};
    for (std::size_t i = specialize.index(); i < module.ops.size(); ++i) {
      const Op& each = module.ops[i];
      if (each.span.begin > op.span.end && op.span.end > 0) break;
      if (in_region(module, OpId(i), id)) need.add(program, each);
    }
    needs.push_back(need);
  }
  return shrunk_warps(program, std::move(needs));
}

bool will_specialize(const TritonProgram& program, const LoopSite& loop) {
  if (program.target < 100 || program.form == TextForm::Specialized || program.form == TextForm::Final) return false;
  for (OpId at = loop.op; at.valid(); at = program.module->around(at))
    if (program.module->op(at).find("tt.warp_specialize")) return true;
  return false;
}

std::vector<PartitionHandOff> specialized_loads(const TritonProgram& program, const Places& places, const LoopSite& loop) {
  std::vector<PartitionHandOff> out;
  if (program.target < 100 || program.form == TextForm::Input || !(loop.partitioned || will_specialize(program, loop))) return out;
  const LoopPlan plan = plan_of_loop(program, places, loop.op);
  const auto between = [](std::int64_t slots) {
    return fmt::format("{} slots between its partition and the readers': as many as num_stages says", slots);
  };
  const Partitions partitions = loop.partitioned ? partitions_of(program, places) : Partitions{};
  if (partitions.loop.valid() && places.begins(partitions.loop) <= places.at(loop.op) && places.at(loop.op) <= places.at(partitions.loop)) {
    // What a partition loads for itself is not handed over.
    for (const Exchange& each : partitions.exchanges)
      if (each.what == Exchange::What::Load && std::ranges::any_of(plan.loads, [&](const LoadPlan& load) { return load.op == each.op; }))
        out.push_back({each.op, each.slots, between(each.slots)});
    return out;
  }
  const std::int64_t depth = std::max<std::int64_t>(1, loop.num_stages > 0 ? loop.num_stages : program.metadata.num_stages.value_or(3));
  for (const LoadPlan& load : plan.loads)
    if (load.descriptor) out.push_back({load.op, depth, between(depth)});
  return out;
}

}  // namespace heddle::triton
