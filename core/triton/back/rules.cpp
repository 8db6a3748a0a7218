#include "core/triton/back/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/triton/memory/memory.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/memory/slots.h"
#include "core/triton/memory/specialization.h"
#include "core/triton/read/op_words.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

/// Triton writes the loop's body once for every stage in front of it and once behind: more is no pipeline, but a text that never ends.
constexpr std::int64_t kMostStage = 63;

bool is_product(std::string_view name) {
  const std::string present = present_name(name);
  return present == "ttng.warp_group_dot" || present == "tt.dot";
}

class Judge {
 public:
  Judge(const TritonProgram& program, const LoopSite& loop) : program_(program), loop_(loop), module_(*program.module) {
    body_ = module_.body(loop.op);
  }

  std::vector<RuleViolation> run() {
    if (body_ && !loop_.scheduled) latencies();
    if (body_ && loop_.scheduled) {
      stages();
      if (unread_) return std::move(found_);  // what is not known cannot be judged further
      last_stage();
      order();
      rings();
      if (program_.target >= 90 && program_.target < 100) products();
      tensor_memory();
      judge_partitions(program_, loop_, found_);
    }
    return std::move(found_);
  }

  /// Of the whole kernel.
  std::vector<RuleViolation> memory_of_kernel(const Machine& machine) {
    memory(machine);
    return std::move(found_);
  }

 private:
  const mlir::Op& op(mlir::OpId id) const { return module_.op(id); }

  void broken(Rule rule, std::vector<mlir::OpId> ops, std::string message) {
    const int line = ops.empty() ? 0 : op(ops.back()).line;
    found_.push_back({rule, std::move(message), std::move(ops), line});
  }

  /// Aliases, hexadecimal and other types are numbers for MLIR, and none that is read here.
  bool plain(const mlir::OpId id, std::string_view name) {
    const mlir::Attribute* attribute = op(id).find(name);
    if (!attribute) return true;
    std::string_view digits = attribute->value;
    if (digits.starts_with('-')) digits.remove_prefix(1);
    const std::size_t end = digits.find_first_not_of("0123456789");
    if (end != std::string_view::npos && end > 0 && end < 10 && digits.substr(end) == " : i32") return true;
    unread_ = true;
    broken(Rule::Stage, {id},
           fmt::format("{} has {} = {}: expected a number like 2 : i32", describe_op(program_, op(id)), name, attribute->value));
    return false;
  }

  /// In a text that is still to be scheduled: how far loads run ahead.
  void latencies() {
    for (const mlir::OpId id : body_->ops)
      if (const mlir::Op& each = op(id); plain(id, "tt.latency") && each.find("tt.latency"))
        if (const std::int64_t latency = each.integer("tt.latency", 0); latency < 0 || latency > kMostStage)
          broken(Rule::Stage, {id},
                 fmt::format("{} has tt.latency = {}: expected 0 to {} stages", describe_op(program_, each), latency, kMostStage));
  }

  void stages() {
    plain(loop_.op, "tt.scheduled_max_stage");
    for (const mlir::OpId id : body_->ops) {
      const mlir::Op& each = op(id);
      if (each.name == "scf.yield") continue;
      if (!plain(id, "loop.stage") || !plain(id, "loop.cluster")) continue;
      const auto stage = stage_of(each), cluster = cluster_of(each);
      if (!stage || !cluster)
        broken(
            Rule::Stage, {id},
            fmt::format("{} has no loop.{}, as the other ops of the loop have", describe_op(program_, each), stage ? "cluster" : "stage"));
      else if (*stage < 0 || *stage > kMostStage || *cluster < 0)
        broken(Rule::Stage, {id},
               fmt::format("{} is in stage {}, cluster {}: expected a stage of 0 to {} and a cluster that is not negative",
                           describe_op(program_, each), *stage, *cluster, kMostStage));
    }
  }

  void last_stage() {
    // The loop of a partition keeps the number of the loop that it is a part of.
    if (!loop_.partition.empty()) return;
    mlir::OpId latest;
    for (const mlir::OpId id : body_->ops)
      if (const auto stage = stage_of(op(id)); stage && (!latest.valid() || *stage > *stage_of(op(latest)))) latest = id;
    if (!latest.valid()) return;
    if (!op(loop_.op).find("tt.scheduled_max_stage"))
      broken(Rule::LastStage, {loop_.op},
             fmt::format("the loop (line {}) has no tt.scheduled_max_stage: without it Triton takes no notice of its stages", loop_.line));
    else if (*stage_of(op(latest)) > loop_.max_stage)
      broken(Rule::LastStage, {loop_.op, latest},
             fmt::format("tt.scheduled_max_stage is {}, but {} is in stage {}: Triton takes the number as it is and leaves iterations "
                         "unfinished",
                         loop_.max_stage, describe_op(program_, op(latest)), *stage_of(op(latest))));
  }

  void order() {
    std::vector<SsaEdge> edges = edges_of(program_, loop_);
    for (const SsaEdge& edge : memory_edges_of(program_, loop_)) edges.push_back(edge);
    for (const BrokenOrder& each : broken_orders(program_, loop_, edges))
      broken(each.edge.token ? Rule::Tensor : Rule::Order, {each.edge.from, each.edge.to}, each.sentence);
  }

  void rings() {
    for (const OverwrittenSlot& each : overwritten_slots(program_, loop_)) broken(Rule::Ring, {each.reader, each.load}, each.sentence);
  }

  void products() {
    std::int64_t last = 0;
    for (const mlir::OpId id : body_->ops) last = std::max(last, stage_of(op(id)).value_or(0));
    for (const mlir::OpId id : body_->ops)
      if (const auto stage = stage_of(op(id)); is_product(op(id).name) && stage && *stage < last)
        broken(Rule::Product, {id},
               fmt::format("{} is an mma in stage {} of 0 to {}: on Hopper Triton predicates what stands before the last stage, and a "
                           "predicated mma is waited for at once (3.9) or refused (3.4, 3.6)",
                           describe_op(program_, op(id)), *stage, last));
  }

  /// What is read in a later step than the next mma writes needs a copy for each step, which Triton makes only for accumulators that
  /// begin anew in every iteration.
  void tensor_memory() {
    // Between partitions barriers say when it is free.
    if (program_.target < 100 || loop_.partitioned || will_specialize(program_, loop_)) return;
    const Places places(program_);
    const LoopPlan plan = plan_of_loop(program_, places, loop_.op);
    for (const BrokenOrder& each : broken_orders(program_, loop_, overwrites_of(program_, loop_))) {
      const auto product =
          std::find_if(plan.products.begin(), plan.products.end(), [&](const ProductPlan& p) { return p.op == each.edge.to; });
      if (product != plan.products.end() && product->copies > each.stale) continue;
      broken(Rule::Tensor, {each.edge.from, each.edge.to},
             fmt::format("{} overwrites tensor memory before {} has read it: there is one copy of it",
                         describe_op(program_, op(each.edge.to)), describe_op(program_, op(each.edge.from))));
    }
  }

  void memory(const Machine& machine) {
    const TritonMemory memory = memory_of(program_);
    const std::string unsure = memory.unsure.empty() ? "" : " (Triton's own figure may differ: " + memory.unsure + ")";
    if (const std::int64_t limit = machine.limits.smem_bytes; limit > 0 && memory.shared_bytes > limit)
      broken(Rule::Memory, {},
             fmt::format("the kernel needs {} bytes of shared memory, there are {}{}", memory.shared_bytes, limit, unsure));
    if (const std::int64_t limit = machine.limits.tmem_columns; limit > 0 && memory.tmem_needed > limit)
      broken(Rule::Memory, {},
             fmt::format("the kernel needs {} columns of tensor memory, there are {}{}", memory.tmem_needed, limit, unsure));
    if (const std::int64_t limit = machine.limits.warps_per_cta; limit > 0 && memory.warps > limit)
      broken(Rule::Memory, {}, fmt::format("the kernel needs {} warps, a CTA has at most {}{}", memory.warps, limit, unsure));
  }

  const TritonProgram& program_;
  const LoopSite& loop_;
  const mlir::Module& module_;
  const mlir::Block* body_ = nullptr;
  bool unread_ = false;
  std::vector<RuleViolation> found_;
};

}  // namespace

const char* to_string(Rule rule) {
  switch (rule) {
    case Rule::Stage: return "triton-stage";
    case Rule::LastStage: return "triton-last-stage";
    case Rule::Order: return "triton-order";
    case Rule::Ring: return "triton-ring";
    case Rule::Product: return "triton-product";
    case Rule::Tensor: return "triton-tensor-memory";
    case Rule::Partition: return "triton-partition";
    case Rule::Memory: return "triton-memory";
  }
  return "triton";
}

std::string in_words(const RuleViolation& violation) { return fmt::format("{}: {}", to_string(violation.rule), violation.message); }

Error refusal(const TritonProgram& program, const std::vector<RuleViolation>& violations) {
  Error error{ErrorKind::Input, {}};
  for (const RuleViolation& each : violations)
    error.faults.push_back({program.file, each.line > 0 ? fmt::format("{}", each.line) : "", in_words(each), {}});
  return error;
}

std::vector<RuleViolation> broken_rules(const TritonProgram& program, const LoopSite& loop, const Machine& machine) {
  std::vector<RuleViolation> found = Judge(program, loop).run();
  for (RuleViolation& each : Judge(program, loop).memory_of_kernel(machine)) found.push_back(std::move(each));
  return found;
}

std::vector<std::vector<RuleViolation>> broken_rules(const TritonProgram& program, const std::vector<const LoopSite*>& loops,
                                                     const Machine& machine) {
  std::vector<std::vector<RuleViolation>> found;
  for (const LoopSite* loop : loops) found.push_back(Judge(program, *loop).run());
  if (!loops.empty())
    for (RuleViolation& each : Judge(program, *loops.front()).memory_of_kernel(machine)) found.front().push_back(std::move(each));
  return found;
}

}  // namespace heddle::triton
