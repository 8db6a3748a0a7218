#include "core/triton/audit/audit.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/triton/audit/audit_parts.h"
#include "core/triton/kernel/graph.h"
#include "core/triton/memory/latencies.h"
#include "core/triton/read/op_words.h"

namespace heddle::triton {
namespace {

/// "98304 bytes: ring s_7, 3 slots: loaded in stage 0, read in stage 2 (line 56, kernels.py:124)".
std::string describe_buffer(const TritonProgram& program, const TritonBuffer& buffer) {
  std::string text =
      buffer.columns > 0 ? count_of(buffer.columns * buffer.slots, "column") : fmt::format("{} bytes", buffer.bytes * buffer.slots);
  text += fmt::format(": {}", to_string(buffer.what));
  if (!buffer.name.empty() && buffer.what != TritonBuffer::What::Barriers && buffer.what != TritonBuffer::What::Scratch)
    text += " " + buffer.name;
  if (!buffer.why.empty()) text += ", " + buffer.why;
  if (buffer.op.valid()) {
    const mlir::Op& op = program.module->op(buffer.op);
    const std::string source = source_of(program, op);
    text += source.empty() ? fmt::format(" (line {})", op.line) : fmt::format(" (line {}, {})", op.line, source);
  }
  return text;
}

std::int64_t shared_of(const TritonBuffer& buffer) { return buffer.columns > 0 ? 0 : buffer.bytes * buffer.slots; }

Finding shared_memory(const TritonProgram& program, const Machine& machine, const TritonMemory& memory) {
  Finding finding{"shared memory", RowMark::Fine, {}, {}, {}};
  const std::int64_t limit = machine.limits.smem_bytes;
  finding.sentence = limit > 0 ? fmt::format("{} of {} bytes ({:.0f} %)", memory.shared_bytes, limit,
                                             100.0 * static_cast<double>(memory.shared_bytes) / static_cast<double>(limit))
                               : fmt::format("{} bytes", memory.shared_bytes);
  std::vector<const TritonBuffer*> buffers;
  for (const TritonBuffer& buffer : memory.buffers)
    if (shared_of(buffer) > 0) buffers.push_back(&buffer);
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const TritonBuffer* a, const TritonBuffer* b) { return shared_of(*a) > shared_of(*b); });
  for (const TritonBuffer* buffer : buffers) {
    finding.details.push_back(describe_buffer(program, *buffer));
    if (buffer->op.valid()) finding.ops.push_back(buffer->op);
  }
  if (limit > 0 && memory.shared_bytes > limit) {
    finding.weight = RowMark::Wrong;
    finding.sentence +=
        fmt::format(": {} bytes too many, the launch will fail with \"out of resource: shared memory\"", memory.shared_bytes - limit);
    std::int64_t slot_of_each = 0;
    for (const TritonBuffer& buffer : memory.buffers)
      if (buffer.what == TritonBuffer::What::Ring && buffer.slots > 1) slot_of_each += buffer.bytes;
    if (slot_of_each > 0)
      finding.details.insert(finding.details.begin(), fmt::format("one stage less (num_stages) frees {} bytes", slot_of_each));
  }
  if (!memory.unsure.empty()) finding.details.insert(finding.details.begin(), "Triton's own figure may differ: " + memory.unsure);
  return finding;
}

std::optional<Finding> tensor_memory(const TritonProgram& program, const Machine& machine, const TritonMemory& memory) {
  if (memory.tmem_needed == 0 && memory.tmem_columns == 0) return std::nullopt;
  Finding finding{"tensor memory", RowMark::Fine, {}, {}, {}};
  const std::int64_t limit = machine.limits.tmem_columns;
  finding.sentence = fmt::format("{}{} columns", memory.tmem_needed, limit > 0 ? fmt::format(" of {}", limit) : "");
  if (memory.tmem_columns > memory.tmem_needed && (limit == 0 || memory.tmem_needed <= limit))
    finding.sentence += fmt::format(", {} allocated (powers of two)", memory.tmem_columns);
  for (const TritonBuffer& buffer : memory.buffers) {
    if (buffer.columns <= 0) continue;
    finding.details.push_back(describe_buffer(program, buffer));
    if (buffer.op.valid()) finding.ops.push_back(buffer.op);
  }
  if (limit > 0 && memory.tmem_needed > limit) {
    finding.weight = RowMark::Wrong;
    finding.sentence += ": Triton compiles this without a word, and the launch will fail";
  }
  return finding;
}

std::optional<Finding> metadata(const TritonProgram& program, const TritonMemory& memory) {
  const Metadata& data = program.metadata;
  if (data.file.empty()) return std::nullopt;
  Finding finding{"metadata", RowMark::Fine, {}, {}, {}};
  std::vector<std::string> facts;
  if (data.shared) facts.push_back(fmt::format("{} bytes of shared memory", *data.shared));
  if (data.tmem_size && *data.tmem_size > 0) facts.push_back(fmt::format("{} columns of tensor memory", *data.tmem_size));
  if (data.num_warps) facts.push_back(fmt::format("num_warps {}", *data.num_warps));
  if (data.num_stages) facts.push_back(fmt::format("num_stages {}", *data.num_stages));
  if (!data.triton_version.empty()) facts.push_back("Triton " + data.triton_version);
  if (facts.empty()) return std::nullopt;
  finding.sentence = fmt::format("the file beside the text says {}", fmt::join(facts, ", "));
  if (data.target && *data.target != program.target) {
    finding.weight = RowMark::Waste;
    finding.details.push_back(
        fmt::format("it is for sm_{}, the text for sm_{}: they do not belong together", *data.target, program.target));
  }
  if (data.shared && memory.unsure.empty() && *data.shared != memory.shared_bytes)
    finding.details.push_back(fmt::format("counted from the text: {} bytes of shared memory", memory.shared_bytes));
  return finding;
}

/// A kernel that has nothing to schedule says so first.
std::optional<Finding> nothing_to_schedule(const TritonProgram& program) {
  if (usual_loop(program)) return std::nullopt;
  Finding finding{"loop", RowMark::Fine, {}, {}, {}};
  if (program.loops.empty()) {
    finding.sentence = "the kernel has no loop: there is nothing to pipeline";
    return finding;
  }
  finding.sentence =
      program.loops.size() == 1 ? "its loop cannot be scheduled from this text" : "none of its loops can be scheduled from this text";
  // Loops with one reason share a line.
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const LoopSite& loop : program.loops) {
    const auto same = std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.second == loop.why_not; });
    const std::string name = fmt::format("#{} (line {})", loop.number, loop.line);
    if (same != reasons.end())
      same->first += ", " + name;
    else
      reasons.emplace_back(name, loop.why_not);
  }
  for (const auto& [loops, why] : reasons) finding.details.push_back(loops + ": " + why);
  return finding;
}

std::optional<Finding> form_of(const TritonProgram& program) {
  Finding finding{"form", RowMark::Fine, {}, {}, {}};
  switch (program.form) {
    case TextForm::Input:
      if (program.loops.empty()) return std::nullopt;
      finding.sentence =
          std::ranges::all_of(program.loops, [&](const LoopSite& loop) { return left_alone(program, loop) || !loop.why_not.empty(); })
              ? "no op has a stage: Triton finds nothing in it to pipeline, and each loop runs as it stands"
              : "no op has a stage: the text is from before tritongpu-schedule-loops";
      return finding;
    case TextForm::Final:
      if (program.loops.empty()) return std::nullopt;
      finding.sentence = "this is what runs: rings, barriers and warps are its own; which op belongs to which stage is no longer in it";
      return finding;
    case TextForm::Specialized:
    case TextForm::Partitioned:
    case TextForm::Scheduled: return std::nullopt;
  }
  return std::nullopt;
}

TextLoopAudit audit_loop(const TritonProgram& program, const Machine& machine, const LoopSite& loop) {
  TextLoopAudit audit;
  audit.loop = &loop;
  if (const Result<TileGraph> graph = loop_graph(program, loop)) {
    audit.edges = graph->edges.size();
    audit.fused = graph->fused.size();
  } else if (loop.why_not.empty()) {
    Finding refused{"schedule", RowMark::Fine, "it is shown, but cannot be scheduled here", {}, {loop.op}};
    for (const Fault& fault : graph.error().faults) refused.details.push_back(fmt::format("line {}: {}", fault.pointer, fault.message));
    audit.findings.push_back(std::move(refused));
  }
  if (!loop.why_not.empty() && !loop.scheduled) {
    audit.findings.push_back({"loop", RowMark::Fine, "it cannot be scheduled here: " + loop.why_not, {}, {loop.op}});
    return audit;
  }
  const std::vector<TritonBuffer> rings = rings_of(program, loop);
  // Where barriers have taken the place of dependences, a load's stage says nothing of its use.
  if (program.form != TextForm::Specialized && program.form != TextForm::Final) audit.loads = load_rows(program, loop, rings);
  for (Finding& finding : audit_order(program, loop)) audit.findings.push_back(std::move(finding));
  for (Finding& finding : audit_loads(program, loop, audit.loads)) audit.findings.push_back(std::move(finding));
  if (auto products = audit_products(program, loop)) audit.findings.push_back(*std::move(products));
  if (Finding overlap = audit_overlap(program, loop); !overlap.sentence.empty()) audit.findings.push_back(std::move(overlap));
  if (auto registers = audit_registers(program, loop, machine)) audit.findings.push_back(*std::move(registers));
  if (!loop.why_not.empty()) audit.findings.push_back({"loop", RowMark::Fine, "Heddle cannot schedule it: " + loop.why_not, {}, {loop.op}});
  return audit;
}

}  // namespace

bool TextAudit::clean() const {
  const auto right = [](const Finding& finding) { return finding.weight != RowMark::Wrong; };
  return std::all_of(findings.begin(), findings.end(), right) && std::all_of(loops.begin(), loops.end(), [&](const TextLoopAudit& a) {
           return std::all_of(a.findings.begin(), a.findings.end(), right);
         });
}

TextAudit audit(const TritonProgram& program, const Machine& machine, const LoopSite* loop) {
  TextAudit audit;
  audit.title =
      fmt::format("{}, sm_{}, {}, {}", program.kernel, program.target, count_of(program.num_warps, "warp"), to_string(program.form));
  if (!program.pass.empty()) audit.title += ", before " + program.pass;
  audit.kernel = program.kernel;
  audit.form = program.form;
  audit.target = program.target;
  audit.num_warps = program.num_warps;
  audit.memory = memory_of(program);
  const TritonMemory& memory = audit.memory;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding && !finding->sentence.empty()) audit.findings.push_back(*std::move(finding));
  };
  add(nothing_to_schedule(program));
  add(form_of(program));
  add(shared_memory(program, machine, memory));
  add(tensor_memory(program, machine, memory));
  add(audit_specialization(program, loop ? loop : usual_loop(program)));
  add(metadata(program, memory));
  if (loop) {
    audit.loops.push_back(audit_loop(program, machine, *loop));
    return audit;
  }
  const bool any = usual_loop(program) != nullptr;
  for (const LoopSite& site : program.loops)
    if (site.scheduled || (any && site.why_not.empty()) || (any && site.tile_ops > 0))
      audit.loops.push_back(audit_loop(program, machine, site));
  return audit;
}

}  // namespace heddle::triton
