// The loads of a loop: how far ahead of their use they run, which of them do not, and why; equal loads that are treated differently.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text_style.h"
#include "core/triton/audit/audit_parts.h"
#include "core/triton/memory/latencies.h"
#include "core/triton/read/flow.h"
#include "core/triton/read/op_words.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

constexpr std::int64_t kLeastCopy = 4;  ///< bytes that one cp.async of a thread moves at least

bool is_load(const mlir::Op& op) {
  const OpWord* word = find_op(op.name);
  return word && (word->role == OpRole::DescriptorLoad || word->role == OpRole::PointerLoad || word->role == OpRole::Gather);
}

/// Readers of each op of the loop's block, in stages after the reading iteration's begin.
struct Readers {
  std::map<mlir::OpId, std::vector<SsaEdge>> of;
  Readers(const TritonProgram& program, const LoopSite& loop) {
    for (const SsaEdge& edge : edges_of(program, loop)) of[edge.from].push_back(edge);
  }
};

/// Only hands its operand on: a view, or the memory that a load fills.
bool hands_on(const mlir::Op& op) {
  const OpWord* word = find_op(op.name);
  return word && (word->role == OpRole::View || word->role == OpRole::SharedAlloc);
}

/// What reads a load behind views: with the stage of each reader.
struct Use {
  mlir::OpId reader;
  std::int64_t stage = -1;
};
std::vector<Use> uses_of(const mlir::Module& module, const Readers& readers, mlir::OpId load) {
  std::vector<Use> uses;
  std::set<mlir::OpId> seen;
  std::vector<std::pair<mlir::OpId, int>> open{{load, 0}};
  while (!open.empty()) {
    const auto [id, distance] = open.back();
    open.pop_back();
    const auto found = readers.of.find(id);
    if (found == readers.of.end()) continue;
    for (const SsaEdge& edge : found->second) {
      if (!seen.insert(edge.to).second) continue;
      const mlir::Op& reader = module.op(edge.to);
      if (hands_on(reader)) {
        open.emplace_back(edge.to, distance + edge.distance);
        continue;
      }
      const auto stage = stage_of(reader);
      uses.push_back({edge.to, stage ? *stage + distance + edge.distance : -1});
    }
  }
  return uses;
}

bool is_product(const mlir::Op& op) {
  const OpWord* word = find_op(op.name);
  return word && (word->role == OpRole::Product || word->role == OpRole::TensorProduct || op.name.starts_with("tt.dot"));
}

/// The tile that a load brings: its result's, or what it fills.
const Type* tile_of(const TritonProgram& program, const mlir::Op& op) {
  for (const mlir::ValueId result : op.results)
    if (program.type(result).tile.tile()) return &program.type(result);
  for (const mlir::ValueId operand : op.operands)
    if (program.type(operand).tile.tile() && !program.type(operand).barrier && !program.type(operand).pointer)
      return &program.type(operand);
  return nullptr;
}

/// Why Triton does not let a load run ahead, and what would change that.
std::string reason_of(const TritonProgram& program, const LoopSite& loop, const LoadLatency& load, std::int64_t stages) {
  const bool asked = program.module->op(loop.op).find("tt.num_stages") != nullptr;
  switch (load.why) {
    case LeftAlone::OneStage: return asked ? "the loop says num_stages=1" : "it is compiled with num_stages=1";
    case LeftAlone::HoldsLoop: return "Triton schedules innermost loops only, and this one holds another";
    case LeftAlone::TwoIterations:
      return "the loop hands on an argument that it was itself handed, and Triton schedules no such loop: compute the value anew";
    case LeftAlone::Barrier: return "Triton schedules no loop with a barrier in it (tl.debug_barrier): move it out of the loop";
    case LeftAlone::Branch:
      return "it stands in a branch, and Triton lets only the loop's own loads run ahead: load in front of the branch, under a mask";
    case LeftAlone::NoProduct: return "no mma reads it, and the loop asks for no stages of its own: tl.range(..., num_stages=3)";
    case LeftAlone::NotForProduct:
      return "no mma reads what rests on it, and the loop asks for no stages of its own: tl.range(..., num_stages=3)";
    case LeftAlone::Narrow:
      return fmt::format(
          "by addresses and mask a thread knows of {} in a row, and an asynchronous copy takes at least {}: let strides, offsets and the "
          "mask's bound be divisible by 16, and the pointer aligned (or load by descriptor)",
          count_of(load.bytes, "byte"), kLeastCopy);
    case LeftAlone::OtherOrder:
      return fmt::format(
          "its neighbours in memory lie across the order in which the mma reads shared memory, so that a copy would move {} at a time, and "
          "an asynchronous one takes at least {}: keep the tensor with the dimension of the sum contiguous, or load by descriptor",
          count_of(load.bytes, "byte"), kLeastCopy);
    case LeftAlone::TwoLayouts: return "its readers want it in two layouts of shared memory: load it once for each";
    case LeftAlone::TwoLevels: return "mmas read it both at once and as an index of other loads: load it once for each";
    case LeftAlone::MoreStages:
      return fmt::format("other loads wait for it, and num_stages = {} leaves no stage for it: with num_stages {} it is pipelined", stages,
                         load.level + 2);
    case LeftAlone::ForLeftAlone: return "only a load that is not pipelined itself waits for it";
    case LeftAlone::NotReached: return "nothing in its own iteration reads it that Triton begins at";
    case LeftAlone::No: break;
  }
  return "its stage is that of its use";
}

}  // namespace

std::vector<LoadRow> load_rows(const TritonProgram& program, const LoopSite& loop, const std::vector<TritonBuffer>& rings) {
  std::vector<LoadRow> rows;
  const mlir::Block* body = program.module->body(loop.op);
  if (!body) return rows;
  const Readers readers(program, loop);
  const std::int64_t stages = stages_meant(program, loop);
  const bool unscheduled = left_alone(program, loop);
  const std::vector<LoadLatency> latencies = load_latencies(program, loop, stages, false);
  std::vector<mlir::OpId> loads;
  for (const mlir::OpId id : body->ops)
    if (is_load(program.module->op(id))) loads.push_back(id);
  for (const LoadLatency& load : latencies)
    if (load.why == LeftAlone::Branch) loads.push_back(load.op);
  std::sort(loads.begin(), loads.end());
  for (const mlir::OpId id : loads) {
    const mlir::Op& op = program.module->op(id);
    const Type* tile = tile_of(program, op);
    if (!tile && op.results.empty()) continue;
    const Type& loaded = tile ? *tile : program.type(op.results.front());
    LoadRow row;
    row.name = op.results.empty() ? op.name : program.module->value(op.results.front()).name;
    row.tile = tile ? tile->tile.text() : loaded.pointer ? "pointer" : loaded.tile.element;
    row.source = source_of(program, op);
    row.stage = stage_of(op).value_or(-1);
    for (const Use& use : uses_of(*program.module, readers, id)) row.use_stage = std::max(row.use_stage, use.stage);
    row.bytes = tile ? tile->tile.bytes() : loaded.pointer ? 8 : std::max<std::int64_t>(1, loaded.tile.bits / 8);
    row.op = id;
    const auto ring = std::find_if(rings.begin(), rings.end(), [&](const TritonBuffer& buffer) { return buffer.op == id; });
    if (ring != rings.end()) {
      row.slots = ring->synchronous ? 0 : ring->slots;
    }
    const auto latency = std::find_if(latencies.begin(), latencies.end(), [&](const LoadLatency& load) { return load.op == id; });
    const bool waits = ring == rings.end() || ring->synchronous;
    if (waits && latency != latencies.end() && (loop.scheduled || unscheduled))
      row.remark = "not pipelined: " + reason_of(program, loop, *latency, stages);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Finding> audit_loads(const TritonProgram& program, const LoopSite& loop, const std::vector<LoadRow>& rows) {
  std::vector<Finding> findings;
  if (rows.empty()) return findings;
  Finding loads{"loads", RowMark::Fine, {}, {}, {}};
  const std::size_t ahead = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const LoadRow& r) { return r.slots > 0; }));
  const std::size_t exposed =
      static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const LoadRow& r) { return !r.remark.empty(); }));
  if (!loop.scheduled && exposed == 0) return findings;
  if (exposed == 0) {
    loads.sentence = rows.size() == 1 ? std::string("its only load runs ahead of its use")
                                      : fmt::format("all {} loads run ahead of their use", rows.size());
    if (ahead == 0) loads.sentence.clear();
  } else {
    loads.weight = RowMark::Waste;
    loads.sentence = fmt::format("{} of {} {} not pipelined: every iteration waits for global memory", exposed,
                                 count_of(static_cast<std::int64_t>(rows.size()), "load"), exposed == 1 ? "is" : "are");
    for (const LoadRow& row : rows) {
      if (row.remark.empty()) continue;
      loads.details.push_back(fmt::format("{}, {}: {}", describe_op(program, program.module->op(row.op)), row.tile,
                                          row.remark.substr(row.remark.find(": ") + 2)));
      loads.ops.push_back(row.op);
    }
  }
  if (!loads.sentence.empty()) findings.push_back(std::move(loads));

  // Two loads of one tile that are treated differently: a difference that nobody asked for has cost kernels 10 %.
  std::map<std::string, std::vector<const LoadRow*>> equal;
  for (const LoadRow& row : rows) equal[row.tile].push_back(&row);
  for (const auto& [tile, loads_of_tile] : equal) {
    const auto far = [](const LoadRow* row) { return row->stage >= 0 && row->use_stage >= 0 ? row->use_stage - row->stage : -1; };
    const auto [least, most] = std::minmax_element(loads_of_tile.begin(), loads_of_tile.end(),
                                                   [&](const LoadRow* a, const LoadRow* b) { return far(a) < far(b); });
    if (far(*least) == far(*most) || far(*least) < 0) continue;
    Finding finding{"equal loads", RowMark::Waste, {}, {}, {}};
    finding.sentence = fmt::format("loads of {} run ahead by different numbers of stages", tile);
    for (const LoadRow* row : loads_of_tile) {
      finding.details.push_back(fmt::format("{}{}: loaded in stage {}, read in stage {}, {}", row->name,
                                            row->source.empty() ? "" : " (" + row->source + ")", row->stage, row->use_stage,
                                            row->slots > 0 ? count_of(row->slots, "slot") : "no ring"));
      finding.ops.push_back(row->op);
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

Finding audit_overlap(const TritonProgram& program, const LoopSite& loop) {
  Finding finding{"overlap", RowMark::Fine, {}, {}, {}};
  const mlir::Block* body = program.module->body(loop.op);
  if (!body || !loop.scheduled) return finding;
  std::set<std::int64_t> products, others;
  std::int64_t product_count = 0, other_count = 0;
  for (const mlir::OpId id : body->ops) {
    const mlir::Op& op = program.module->op(id);
    const auto stage = stage_of(op);
    const OpWord* word = find_op(op.name);
    if (!stage || !word) continue;
    if (is_product(op)) {
      products.insert(*stage);
      ++product_count;
      finding.ops.push_back(id);
      continue;
    }
    const bool computes = word->role == OpRole::Elements || word->role == OpRole::Convert || word->role == OpRole::Reduce;
    const bool tile = std::any_of(op.results.begin(), op.results.end(), [&](mlir::ValueId v) { return is_number_tile(program.type(v)); });
    if (!computes || !tile) continue;
    others.insert(*stage);
    ++other_count;
  }
  const auto list = [](const std::set<std::int64_t>& stages) {
    return std::string(stages.size() == 1 ? "stage " : "stages ") + list_of_stages({stages.begin(), stages.end()});
  };
  if (product_count == 0 && other_count == 0) return finding;
  const std::string what = product_count == 0 ? count_of(other_count, "op") + " of arithmetic"
                           : other_count == 0
                               ? count_of(product_count, "mma")
                               : fmt::format("{} and {} of arithmetic", count_of(product_count, "mma"), count_of(other_count, "op"));
  std::set<std::int64_t> all = products;
  all.insert(others.begin(), others.end());
  if (loop.partitioned || !loop.partition.empty()) {
    finding.sentence = fmt::format("{}; partitions overlap them whatever their stages", what);
    return finding;
  }
  const bool hopper = program.target >= 90 && program.target < 100;
  std::int64_t last = 0;
  for (const mlir::OpId id : body->ops) last = std::max(last, stage_of(program.module->op(id)).value_or(0));
  if (hopper && !products.empty() && *products.begin() < last) {
    finding.weight = RowMark::Waste;
    finding.sentence = fmt::format(
        "{} in {}, though the last stage is {}: Triton 3.9.0 puts such an mma under a condition and waits for it at once, 3.4.0 and "
        "3.6.0 refuse it",
        count_of(product_count, "mma"), list(products), last);
    return finding;
  }
  if (product_count > 0 && other_count > 0 && all.size() == 1) {
    finding.weight = RowMark::Waste;
    finding.sentence =
        fmt::format("{} are all in {}: a warp's arithmetic and its mmas take turns, only loads run beside them", what, list(all));
    if (hopper)
      finding.details.push_back(
          "on Hopper Triton never puts them into different stages, and an mma whose result is read in its own iteration is waited for "
          "at once");
    return finding;
  }
  if (product_count > 0 && other_count > 0)
    finding.sentence = fmt::format("{} in {}, {} of arithmetic in {}: different iterations of them overlap", count_of(product_count, "mma"),
                                   list(products), count_of(other_count, "op"), list(others));
  else
    finding.sentence = fmt::format("{} in {}; only loads run beside {}", what, list(all), product_count + other_count == 1 ? "it" : "them");
  return finding;
}

}  // namespace heddle::triton
