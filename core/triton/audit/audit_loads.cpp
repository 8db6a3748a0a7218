// The loads of a loop: how far ahead of their use they run, which of them do not, and why; equal loads that are treated differently.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text_style.h"
#include "core/triton/audit/audit_parts.h"
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

/// Bytes that lie side by side in a thread's part of a tile of pointers; 0 where the layout does not say.
std::int64_t bytes_side_by_side(const TritonProgram& program, const mlir::Op& op) {
  if (op.operands.empty()) return 0;
  const Type &pointers = program.operand_type(op, 0), *tile = tile_of(program, op);
  const TritonLayout& layout = pointers.layout;
  if (!pointers.pointer || !tile || layout.kind != TritonLayout::Kind::Blocked || layout.order.empty()) return 0;
  const std::int64_t fastest = layout.order.front();
  if (fastest < 0 || static_cast<std::size_t>(fastest) >= layout.size_per_thread.size()) return 0;
  return layout.size_per_thread[static_cast<std::size_t>(fastest)] * tile->tile.bits / 8;
}

/// Whether an address of this load rests on another load of the loop.
bool indirect(const TritonProgram& program, const LoopSite& loop, mlir::OpId load) {
  std::map<mlir::OpId, std::vector<mlir::OpId>> sources;
  for (const SsaEdge& edge : edges_of(program, loop))
    if (edge.distance == 0) sources[edge.to].push_back(edge.from);
  std::set<mlir::OpId> seen{load};
  std::vector<mlir::OpId> open{load};
  while (!open.empty()) {
    const mlir::OpId id = open.back();
    open.pop_back();
    for (const mlir::OpId from : sources[id]) {
      if (!seen.insert(from).second) continue;
      if (is_load(program.module->op(from))) return true;
      open.push_back(from);
    }
  }
  return false;
}

/// Why Triton did not let a load run ahead, as far as the text shows it.
std::string reason_of(const TritonProgram& program, const LoopSite& loop, const Readers& readers, mlir::OpId id) {
  const mlir::Op& op = program.module->op(id);
  const std::int64_t bytes = bytes_side_by_side(program, op);
  if (bytes > 0 && bytes < kLeastCopy)
    return fmt::format(
        "a thread's elements lie {} bytes in a row, and an asynchronous copy takes at least {}: Triton does not know that neighbours in "
        "memory are neighbours (a stride that is no constant 1, or no known multiple)",
        bytes, kLeastCopy);
  const std::vector<Use> uses = uses_of(*program.module, readers, id);
  const bool product = std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return is_product(program.module->op(use.reader)); });
  if (!product && !program.module->op(loop.op).find("tt.num_stages"))
    return "no mma reads it, and the loop asks for no stages of its own (tl.range(..., num_stages=N))";
  if (indirect(program, loop, id)) return "its address comes from another load of the loop";
  if (loop.num_stages == 1) return "num_stages is 1";
  return "its stage is that of its use";
}

}  // namespace

std::vector<LoadRow> load_rows(const TritonProgram& program, const LoopSite& loop, const std::vector<TritonBuffer>& rings) {
  std::vector<LoadRow> rows;
  const mlir::Block* body = program.module->body(loop.op);
  if (!body) return rows;
  const Readers readers(program, loop);
  for (const mlir::OpId id : body->ops) {
    const mlir::Op& op = program.module->op(id);
    const Type* tile = is_load(op) ? tile_of(program, op) : nullptr;
    if (!tile) continue;
    LoadRow row;
    row.name = op.results.empty() ? op.name : program.module->value(op.results.front()).name;
    row.tile = tile->tile.text();
    row.source = source_of(program, op);
    row.stage = stage_of(op).value_or(-1);
    for (const Use& use : uses_of(*program.module, readers, id)) row.use_stage = std::max(row.use_stage, use.stage);
    row.bytes = tile->tile.bytes();
    row.op = id;
    const auto ring = std::find_if(rings.begin(), rings.end(), [&](const TritonBuffer& buffer) { return buffer.op == id; });
    if (ring != rings.end()) {
      row.slots = ring->synchronous ? 0 : ring->slots;
      if (ring->synchronous && loop.scheduled) row.remark = "not pipelined: " + reason_of(program, loop, readers, id);
    }
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
  if (!loop.scheduled) return findings;
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
