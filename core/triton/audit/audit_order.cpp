// What the audit says of a loop's stages: which are in use, what crosses them, and whether they let every op read the tile of its own
// iteration (core/triton/read/order.h).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/triton/audit/audit_parts.h"
#include "core/triton/memory/slots.h"
#include "core/triton/read/op_words.h"
#include "core/triton/read/order.h"

namespace heddle::triton {
namespace {

struct Body {
  const mlir::Module& module;
  const mlir::Block* block = nullptr;

  Body(const TritonProgram& program, const LoopSite& loop) : module(*program.module), block(module.body(loop.op)) {}
};

bool is_terminator(const mlir::Op& op) { return op.name == "scf.yield"; }

Finding stages_finding(const LoopSite& loop, const TritonProgram& program, const std::vector<SsaEdge>& edges) {
  Finding finding{"stages", RowMark::Fine, {}, {}, {}};
  const Body body(program, loop);
  std::map<std::int64_t, std::vector<mlir::OpId>> by_stage;
  for (const mlir::OpId id : body.block->ops)
    if (const auto stage = stage_of(body.module.op(id))) by_stage[*stage].push_back(id);
  if (by_stage.empty()) return finding;
  const std::int64_t last = by_stage.rbegin()->first;
  std::vector<std::int64_t> used;
  for (const auto& [stage, ops] : by_stage) used.push_back(stage);
  finding.sentence =
      fmt::format("{} in use: {}", used.size() == 1 ? "one stage" : fmt::format("{} stages", used.size()), list_of_stages(used));
  if (loop.num_stages > 0) finding.sentence += fmt::format("; num_stages = {}", loop.num_stages);
  const mlir::Attribute* declared = body.module.op(loop.op).find("tt.scheduled_max_stage");
  if (declared && last > loop.max_stage) {
    finding.weight = RowMark::Wrong;
    finding.sentence += fmt::format("; tt.scheduled_max_stage says {}, but ops are in stage {}", loop.max_stage, last);
    finding.details.push_back("Triton takes the number without checking it and then leaves iterations unfinished");
    finding.ops = by_stage.rbegin()->second;
    return finding;
  }
  // The loop of a partition keeps the number of the loop that it is a part of, and few of its ops.
  if (!loop.partition.empty()) return finding;
  if (declared && last < loop.max_stage) {
    finding.weight = RowMark::Waste;
    finding.details.push_back(
        fmt::format("tt.scheduled_max_stage says {}, but nothing is after stage {}: the loop's prologue is longer than it needs to be",
                    loop.max_stage, last));
  }
  // A step from one stage to the next that nothing crosses separates ops that have nothing to do with each other.
  for (std::int64_t s = used.front(); s < last && s - used.front() < 64; ++s) {
    const bool crossed = std::any_of(edges.begin(), edges.end(), [&](const SsaEdge& e) {
      const auto from = stage_of(body.module.op(e.from)), to = stage_of(body.module.op(e.to));
      return from && to && *from <= s && *to + e.distance > s;
    });
    if (crossed) continue;
    finding.weight = RowMark::Waste;
    finding.details.push_back(fmt::format("no data passes from stage {} to stage {}: what is later could be earlier", s, s + 1));
  }
  std::vector<std::int64_t> empty;
  for (std::int64_t s = 0; s <= last && s < 64; ++s)
    if (!by_stage.count(s)) empty.push_back(s);
  if (!empty.empty() && last < 64)
    finding.details.push_back(fmt::format("stage{} {} {} no op: data waits there, which makes rings deeper", empty.size() == 1 ? "" : "s",
                                          list_of_stages(empty), empty.size() == 1 ? "has" : "have"));
  return finding;
}

std::optional<Finding> stageless_finding(const LoopSite& loop, const TritonProgram& program) {
  const Body body(program, loop);
  Finding finding{"no stage", RowMark::Wrong, {}, {}, {}};
  for (const mlir::OpId id : body.block->ops)
    if (const mlir::Op& op = body.module.op(id); !is_terminator(op) && !stage_of(op)) finding.ops.push_back(id);
  if (finding.ops.empty()) return std::nullopt;
  finding.sentence = fmt::format("{} without loop.stage among ops that have one: Triton compiles this, and nothing says when they run",
                                 finding.ops.size() == 1 ? "an op is" : fmt::format("{} ops are", finding.ops.size()));
  for (const mlir::OpId id : finding.ops) finding.details.push_back(describe_op(program, body.module.op(id)));
  return finding;
}

Finding order_finding(const LoopSite& loop, const TritonProgram& program, const std::vector<SsaEdge>& edges) {
  Finding finding{"order", RowMark::Fine, {}, {}, {}};
  const Body body(program, loop);
  const auto judged = std::count_if(edges.begin(), edges.end(),
                                    [&](const SsaEdge& e) { return stage_of(body.module.op(e.from)) && stage_of(body.module.op(e.to)); });
  for (const BrokenOrder& broken : broken_orders(program, loop, edges)) {
    finding.ops.insert(finding.ops.end(), {broken.edge.from, broken.edge.to});
    finding.details.push_back(broken.sentence);
  }
  if (finding.ops.empty()) {
    finding.sentence = fmt::format("all {} dependences of the loop's ops hold in the order of stages and clusters", judged);
    return finding;
  }
  const std::size_t broken = finding.details.size();
  finding.weight = RowMark::Wrong;
  finding.sentence = fmt::format("{} of {} dependences {} not hold: the kernel computes with tiles of other iterations", broken, judged,
                                 broken == 1 ? "does" : "do");
  return finding;
}

std::optional<Finding> slots_finding(const LoopSite& loop, const TritonProgram& program) {
  Finding finding{"rings", RowMark::Wrong, {}, {}, {}};
  for (const OverwrittenSlot& each : overwritten_slots(program, loop)) {
    finding.ops.insert(finding.ops.end(), {each.load, each.reader});
    finding.details.push_back(each.sentence);
  }
  if (finding.details.empty()) return std::nullopt;
  finding.sentence = "a slot of a ring is filled before what was there is read: the kernel computes with tiles of other iterations";
  return finding;
}

}  // namespace

std::string list_of_stages(const std::vector<std::int64_t>& stages) {
  std::string text;
  for (std::size_t i = 0; i < stages.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == stages.size() ? " and " : ", ", stages[i]);
  return text;
}

std::vector<Finding> audit_order(const TritonProgram& program, const LoopSite& loop) {
  std::vector<Finding> findings;
  if (!loop.scheduled || !program.module->body(loop.op)) return findings;
  std::vector<SsaEdge> edges = edges_of(program, loop);
  if (Finding stages = stages_finding(loop, program, edges); !stages.sentence.empty()) findings.push_back(std::move(stages));
  if (auto stageless = stageless_finding(loop, program)) findings.push_back(*std::move(stageless));
  for (const SsaEdge& edge : memory_edges_of(program, loop)) edges.push_back(edge);
  findings.push_back(order_finding(loop, program, edges));
  if (auto slots = slots_finding(loop, program)) findings.push_back(*std::move(slots));
  return findings;
}

}  // namespace heddle::triton
