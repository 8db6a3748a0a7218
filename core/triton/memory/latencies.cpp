// The rules of Triton's lib/Dialect/TritonGPU/Transforms/Pipeliner/AssignLatencies.cpp and ScheduleLoops.cpp (2025 and 2026), restated:
// from every mma back to the loads that it rests on; a loop that says num_stages itself, from all other ops too.
#include "core/triton/memory/latencies.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/triton/memory/neighbours.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/memory/scratch.h"
#include "core/triton/memory/specialization.h"
#include "core/triton/read/linear.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

using mlir::Op;
using mlir::OpId;
using mlir::ValueId;

constexpr std::int64_t kCopyAtLeast = 4;       ///< bytes that cp.async of a thread moves
constexpr std::int64_t kUsualStages = 3;       ///< Triton's default
constexpr std::size_t kMostReached = 1 << 16;  ///< ops, over all walks

bool is_load(const Op& op) { return (op.name == "tt.load" || is_descriptor_load(op.name)) && !op.results.empty(); }

bool is_mma(const Op& op) {
  return op.name.starts_with("tt.dot") || op.name.ends_with(".warp_group_dot") || is_tensor_product(present_name(op.name));
}

/// The dimension along which shared memory holds its elements one behind the other.
std::size_t contiguous_dimension(const Type& memory) {
  const std::size_t rank = memory.tile.shape.size();
  const TritonLayout& layout = memory.layout;
  if (layout.kind == TritonLayout::Kind::SharedNvmma) return layout.transposed || rank == 0 ? 0 : rank - 1;
  if (layout.order.empty() || layout.order[0] < 0) return rank == 0 ? 0 : rank - 1;
  return static_cast<std::size_t>(layout.order[0]);
}

/// Bytes of a thread that lie in a row both in its registers and in shared memory; a large number where layouts do not say.
std::int64_t bytes_in_a_row(const Type& tile, const Type& memory) {
  const std::optional<Linear> linear = linear_of(tile);
  const std::size_t d = contiguous_dimension(memory);
  if (!linear || d >= linear->bits.size()) return std::int64_t{1} << 20;
  int length = 0;
  while (static_cast<std::size_t>(length) < linear->registers.size() && length < linear->bits[d] &&
         linear->registers[static_cast<std::size_t>(length)] == 1u << (linear->offset(d) + length))
    ++length;
  return std::max<std::int64_t>(1, (tile.tile.bits << length) / 8);
}

class LatencyFinder {
 public:
  LatencyFinder(const TritonProgram& program, const LoopSite& loop, std::int64_t num_stages, bool asked)
      : program_(program),
        module_(*program.module),
        loop_(loop.op),
        body_(module_.body(loop.op)),
        stages_(num_stages),
        asked_(asked || module_.op(loop.op).find("tt.num_stages")) {}

  std::vector<LoadLatency> run() {
    if (!body_) return {};
    read_loop();
    const LeftAlone whole = why_whole_loop();
    const bool told = std::ranges::any_of(body_->ops, [&](OpId id) { return op(id).find("tt.latency"); });
    if (whole == LeftAlone::No && !told) find_levels();
    std::int64_t deepest = 0;
    for (const auto& [id, level] : levels_)
      if (level < stages_ - 1) deepest = std::max(deepest, level);
    for (LoadLatency& load : loads_) {
      if (whole != LeftAlone::No) {
        load.why = whole;
      } else if (told) {
        load.latency = op(load.op).integer("tt.latency", 0);
        load.why = load.latency > 0 ? LeftAlone::No : LeftAlone::NotReached;
      } else if (const auto level = levels_.find(load.op); level != levels_.end()) {
        load.level = level->second;
        load.latency = load.level < stages_ - 1 ? (stages_ - 1) / (deepest + 1) : 0;
        load.why = load.latency > 0 ? LeftAlone::No : LeftAlone::MoreStages;
      } else {
        why_not_reached(load);
      }
    }
    for (LoadLatency& load : loads_)
      if ((load.why == LeftAlone::NotForProduct || load.why == LeftAlone::NotReached) && feeds_left_alone(load.op))
        load.why = LeftAlone::ForLeftAlone;
    return std::move(loads_);
  }

 private:
  const Op& op(OpId id) const { return module_.op(id); }
  bool in_body(OpId id) const { return id.valid() && module_.around(id) == loop_; }

  /// Loads, mmas and barriers, and what ops read in their regions. What lies in a loop inside is that loop's.
  void read_loop() {
    const std::size_t end = op(loop_).span.end;
    for (std::size_t i = loop_.index() + 1; i < module_.ops.size() && module_.ops[i].span.end <= end; ++i) {
      const OpId id(i);
      const Op& each = op(id);
      OpId top = id;
      bool inside = false;
      for (OpId around = module_.around(id); around.valid() && around != loop_; around = module_.around(around)) {
        top = around;
        inside |= op(around).name == "scf.for" || op(around).name == "scf.while";
      }
      if (top != id) nested_[top].insert(nested_[top].end(), each.operands.begin(), each.operands.end());
      inner_loop_ |= top == id && (each.name == "scf.for" || each.name == "scf.while");
      barrier_ |= each.name == "gpu.barrier" || each.name == "ttg.barrier";
      mma_ |= top == id && is_mma(each);
      if (is_load(each) && !inside) loads_.push_back({.op = id});
    }
  }

  LeftAlone why_whole_loop() const {
    if (stages_ <= 1) return LeftAlone::OneStage;
    if (inner_loop_) return LeftAlone::HoldsLoop;
    const Op* yield = body_->ops.empty() ? nullptr : &op(body_->ops.back());
    if (yield && yield->name == "scf.yield" &&
        std::ranges::any_of(yield->operands, [&](ValueId value) { return !module_.value(value).definer.valid(); }))
      return LeftAlone::TwoIterations;
    return barrier_ ? LeftAlone::Barrier : LeftAlone::No;
  }

  void find_levels() {
    for (const OpId id : body_->ops)
      if (is_mma(op(id)) || op(id).name.ends_with(".tmem_store")) {
        seen_.clear();
        walk(id, 0);
      }
    // Before 3.6 Triton looked at other ops only where it had seen no mma.
    if (!asked_ || (mma_ && pads_conversions(program_))) return;
    for (const OpId id : body_->ops)
      if (!is_load(op(id)) && op(id).name != "scf.yield") walk(id, 0);
  }

  void walk(OpId id, std::int64_t level) {
    if (!seen_.insert(id).second || two_levels_.contains(id) || ++reached_ > kMostReached) return;
    const Op& each = op(id);
    if (is_load(each)) {
      if (why_not_worth(each) != LeftAlone::No) return;
      const auto [known, fresh] = levels_.emplace(id, level);
      if (!fresh && known->second != level) {
        levels_.erase(known);
        two_levels_.insert(id);
        return;
      }
      ++level;
    }
    std::vector<ValueId> operands(each.operands);
    if (const auto inside = nested_.find(id); inside != nested_.end())
      operands.insert(operands.end(), inside->second.begin(), inside->second.end());
    for (const ValueId operand : operands) {
      // Of an mma A and B, not what it adds to.
      if (is_mma(each) && each.operands.size() > 2 && operand == each.operands[2]) continue;
      if (const OpId made = module_.value(operand).definer; in_body(made)) walk(made, level);
    }
  }

  /// Why an asynchronous copy cannot do the work of a load.
  LeftAlone why_not_worth(const Op& load) {
    if (is_descriptor_load(load.name)) return LeftAlone::No;
    if (bytes_at_once(load) < kCopyAtLeast) return LeftAlone::Narrow;
    const Type& tile = program_.type(load.results.front());
    std::vector<const Type*> memories;
    std::set<std::pair<std::int64_t, std::int64_t>> operands;
    bool only_operands = true;
    for (const Op& reader : module_.ops) {
      if (std::ranges::find(reader.operands, load.results.front()) == reader.operands.end() || reader.results.empty()) continue;
      const Type& result = program_.type(reader.results.front());
      if (present_name(reader.name) == "ttg.local_alloc") memories.push_back(&result);
      const bool operand = present_name(reader.name) == "ttg.convert_layout" && result.layout.kind == TritonLayout::Kind::DotOperand;
      only_operands &= operand;
      if (operand) operands.emplace(result.layout.op_idx, result.layout.k_width);
    }
    if (only_operands && operands.size() > 1) return LeftAlone::TwoLayouts;
    for (const Type* memory : memories) {
      if (!(memory->layout == memories.front()->layout)) return LeftAlone::TwoLayouts;
      if (bytes_in_a_row(tile, *memory) < kCopyAtLeast) return LeftAlone::OtherOrder;
    }
    return LeftAlone::No;
  }

  std::int64_t bytes_at_once(const Op& load) {
    const Type& tile = program_.type(load.results.front());
    if (!tile.tile.tile()) return tile.pointer ? 8 : tile.tile.bits / 8;
    if (!neighbours_) neighbours_.emplace(program_);
    return neighbours_->copied_at_once(load);
  }

  void why_not_reached(LoadLatency& load) {
    const Op& each = op(load.op);
    if (!in_body(load.op)) {
      load.why = LeftAlone::Branch;
    } else if (two_levels_.contains(load.op)) {
      load.why = LeftAlone::TwoLevels;
    } else if (const LeftAlone why = why_not_worth(each); why != LeftAlone::No) {
      load.why = why;
      load.bytes =
          std::max<std::int64_t>(1, why == LeftAlone::OtherOrder ? program_.type(each.results.front()).tile.bits / 8 : bytes_at_once(each));
    } else {
      load.why = asked_ ? LeftAlone::NotReached : mma_ ? LeftAlone::NotForProduct : LeftAlone::NoProduct;
    }
  }

  /// Whether a load that is left alone reads what rests on this one.
  bool feeds_left_alone(OpId from) const {
    std::set<OpId> seen{from};
    std::vector<OpId> open{from};
    while (!open.empty() && seen.size() < 4096) {
      const Op& each = op(open.back());
      open.pop_back();
      for (const OpId reader : body_->ops) {
        const Op& user = op(reader);
        if (std::ranges::none_of(each.results, [&](ValueId v) { return std::ranges::find(user.operands, v) != user.operands.end(); }))
          continue;
        if (is_load(user))
          return std::ranges::any_of(loads_, [&](const LoadLatency& load) { return load.op == reader && load.why != LeftAlone::No; });
        if (seen.insert(reader).second) open.push_back(reader);
      }
    }
    return false;
  }

  const TritonProgram& program_;
  const mlir::Module& module_;
  const OpId loop_;
  const mlir::Block* body_;
  const std::int64_t stages_;
  const bool asked_;
  bool inner_loop_ = false, barrier_ = false, mma_ = false;
  std::vector<LoadLatency> loads_;
  std::map<OpId, std::vector<ValueId>> nested_;  ///< operands of what an op's regions hold
  std::map<OpId, std::int64_t> levels_;
  std::set<OpId> seen_, two_levels_;
  std::size_t reached_ = 0;
  std::optional<Neighbours> neighbours_;  ///< made where a load by pointer asks
};

}  // namespace

std::vector<LoadLatency> load_latencies(const TritonProgram& program, const LoopSite& loop, std::int64_t num_stages, bool asked) {
  return LatencyFinder(program, loop, num_stages, asked).run();
}

std::int64_t stages_meant(const TritonProgram& program, const LoopSite& loop) {
  if (program.module->op(loop.op).find("tt.num_stages")) return loop.num_stages;
  return program.metadata.num_stages.value_or(loop.scheduled ? loop.max_stage + 1 : kUsualStages);
}

bool left_alone(const TritonProgram& program, const LoopSite& loop) {
  const mlir::Block* body = program.module->body(loop.op);
  if (!body || loop.scheduled || loop.partitioned || program.module->op(loop.op).name != "scf.for") return false;
  if (program.form == TextForm::Scheduled) return true;  // it has scheduled what it wants to
  if (program.form != TextForm::Input || will_specialize(program, loop)) return false;
  const std::vector<LoadLatency> loads = load_latencies(program, loop, stages_meant(program, loop), false);
  if (std::ranges::any_of(loads, [](const LoadLatency& load) { return load.why == LeftAlone::No; })) return false;
  const bool whole = std::ranges::any_of(loads, [](const LoadLatency& load) {
    return load.why == LeftAlone::OneStage || load.why == LeftAlone::HoldsLoop || load.why == LeftAlone::TwoIterations ||
           load.why == LeftAlone::Barrier;
  });
  return whole || std::ranges::none_of(body->ops, [&](mlir::OpId id) { return is_tensor_product(program.module->op(id).name); });
}

}  // namespace heddle::triton
